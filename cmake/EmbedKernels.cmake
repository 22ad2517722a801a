# SPDX-License-Identifier: BSD-3-Clause
# cmake -DNAME=words -DFATBIN=words.fatbin -DOUT=kernel_image_words.cpp -P EmbedKernels.cmake; without FATBIN the image is empty.
# HEADER and NAMESPACE: where NAME_kernels() is declared; default: the library's own.
if(NOT HEADER)
  set(HEADER src/cuda/kernel_images.h)
  set(NAMESPACE railshmem::cuda)
endif()
set(bytes "")
if(FATBIN)
  file(READ ${FATBIN} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
endif()
file(WRITE ${OUT} "// Made by cmake/EmbedKernels.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

alignas(64) constexpr unsigned char ${NAME}_image[] = {${bytes}0};

}  // namespace

std::span<const std::byte> ${NAME}_kernels() noexcept {
  return std::as_bytes(std::span(${NAME}_image, sizeof ${NAME}_image - 1));
}

}  // namespace ${NAMESPACE}
")
