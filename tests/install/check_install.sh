#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One check of an installation: check_install.sh WHAT SOURCE_OR_BUILD_DIR PREFIX [CMAKE]. Exit 77: skipped.
set -eu
what=$1
tree=$2
prefix=$3
cmake=${4:-cmake}
unset OSHCC_CC OSHCXX_CXX CC CXX DESTDIR MAKEFLAGS LD_LIBRARY_PATH || true
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# Runs PROGRAM with two PEs; its own exit status tells whether its values were right.
run_two() {
  "$prefix/bin/oshrun" -n 2 --timeout 120 "$@"
}
# Runs what would go on forever if a wrapper called itself.
limited() {
  timeout 120 "$@"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A user's project in a folder of its own, with the example that greets.
copy_project() {
  cp -R "$tree/tests/install/$1" "$work/project"
  cp "$tree/examples/01_hello.c" "$work/project/hello.c"
}

case $what in
  install) # into one place, then moved to the other
    rm -rf "$prefix" "$prefix.first"
    "$cmake" --install "$tree" --prefix "$prefix.first" >"$work/log" || { cat "$work/log"; fail "cmake --install"; }
    if grep -q "Installing: " "$work/log"; then fail "cmake --install prints a line for each file"; fi
    grep -q "RailSHMEM: [0-9]* files are in $prefix.first; install_manifest.txt" "$work/log" ||
      { cat "$work/log"; fail "cmake --install does not say how many files went where"; }
    mv "$prefix.first" "$prefix"
    for file in bin/oshrun bin/oshcc bin/oshc++ bin/oshcxx bin/oshCC bin/oshCXX bin/shmem_perf bin/shmem_info lib/librailshmem.so lib/railshmem \
        include/shmem.h include/shmemx.h include/pshmem.h include/mpp/shmem.h include/shmem/types.h \
        lib/cmake/RailSHMEM/RailSHMEMConfig.cmake lib/pkgconfig/railshmem.pc \
        share/bash-completion/completions/oshrun share/railshmem/valgrind.supp \
        share/man/man1/oshrun.1 share/man/man3/shmem_put.3 share/man/man7/railshmem.7; do
      [ -e "$prefix/$file" ] || fail "$file is not installed"
    done
    if grep -rlF -e "$tree" -e "$prefix.first" "$prefix/bin/oshcc" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"; then
      fail "the files above name the build tree or the first prefix"
    fi
    ;;
  man) # every page that a page leads to, and what groff thinks of them
    pages=$prefix/share/man
    for page in man1/shmem_perf man1/shmem_info man1/oshcc man1/oshc++ man3/shmem_long_put man3/shmem_ctx_getmem_nbi man3/shmem_my_pe \
        man3/shmemx_put_signal_on_stream man3/shmemx_float_sum_reduce_on_stream man3/shmemx_int_sum_reducescatter; do
      [ -e "$pages/$page.$(echo "$page" | cut -c4)" ] || fail "there is no $page"
    done
    grep -h '^\.so' "$pages"/man?/* | sort -u | while read -r _ target; do
      [ -e "$pages/$target" ] || fail "a page leads to $target, which is not there"
    done
    grep -q 'SHMEM_SYMMETRIC_SIZE' "$pages/man7/railshmem.7" || fail "railshmem(7) lacks the environment"
    grep -q 'tag.-output' "$pages/man1/oshrun.1" || fail "oshrun(1) lacks its options"
    for part in 'EXIT STATUS' EXAMPLES; do grep -q "^\.SH $part" "$pages/man1/oshrun.1" || fail "oshrun(1) has no $part"; done
    command -v groff >/dev/null || { echo "SKIPPED: no groff to check the pages with"; exit 77; }
    # shellcheck disable=SC2013
    for page in $(grep -L '^\.so' "$pages"/man?/*); do
      said=$(groff -man -Tutf8 -ww -z "$page" 2>&1) || fail "groff: $page: $said"
      [ -z "$said" ] || fail "groff: $page: $said"
    done
    ;;
  oshcc)
    for example in "$tree"/examples/[0-9]*.c; do
      "$prefix/bin/oshcc" -std=c11 -O2 -Wall -Werror "$example" -o "$work/program"
      run_two "$work/program"
    done
    cd "$work" # separate stages, a path with blanks, a symbolic link and PATH instead of a path
    mkdir "a b"
    cp "$tree/examples/01_hello.c" "a b/hello.c"
    ln -s "$prefix/bin/oshcc" linked_oshcc
    PATH=$work:$PATH linked_oshcc -c "a b/hello.c" -o "a b/hello.o"
    ./linked_oshcc "a b/hello.o" -o "a b/hello"
    run_two "a b/hello"
    "$prefix/bin/oshcc" --version >version || fail "oshcc --version"
    for option in -show --showme; do
      line=$("$prefix/bin/oshcc" $option -O2 x.c)
      for word in "-I$prefix/include" -O2 x.c "-L$prefix/lib" -lrailshmem "-Xlinker -rpath=$prefix/lib"; do
        case " $line " in *" $word "*) ;; *) fail "oshcc $option lacks $word: $line" ;; esac
      done
    done
    # The mathematical functions of C need no option of the user's; the argument keeps the compiler from knowing the value.
    echo '#include <math.h>
      int main(int argc, char** argv) { return argv[0] && lgamma(argc) + cbrt(argc - 1) == 0 ? 0 : 1; }' >mathematics.c
    "$prefix/bin/oshcc" -fno-builtin mathematics.c -o mathematics || fail "oshcc does not link the mathematical functions"
    ./mathematics || fail "the mathematical functions"
    # shellcheck disable=SC2046
    cc -fno-builtin mathematics.c $("$prefix/bin/oshcc" --showme:link) -o mathematics || fail "oshcc --showme:link lacks -lm"
    case $("$prefix/bin/oshcc" -show -c x.c) in *-lrailshmem*) fail "oshcc -c links" ;; esac
    [ "$(OSHCC_CC='echo chosen' "$prefix/bin/oshcc" -c x.c)" = "chosen -I$prefix/include -c x.c" ] || fail "OSHCC_CC"
    if "$prefix/bin/oshcc" 2>message; then fail "oshcc without arguments succeeds"; fi
    grep -q "no input files" message || { cat message; fail "oshcc without arguments does not say that it has no input"; }
    if "$prefix/bin/oshcc" -c no_such_file.c 2>message; then fail "oshcc hides the compiler's status"; fi
    # CC is what others run: here it would be oshcc itself
    line=$(CC=no_such_compiler "$prefix/bin/oshcc" -show -c x.c)
    case $line in *no_such_compiler*) fail "oshcc listens to CC: $line" ;; esac
    ;;
  overrides) # the wrapper itself, by its path, through a link, as the second word
    cp "$tree/examples/01_hello.c" "$work/hello.c"
    ln -s "$prefix/bin/oshcc" "$work/another_name"
    for compiler in "$prefix/bin/oshcc" "$work/another_name" "env $prefix/bin/oshcc"; do
      if OSHCC_CC=$compiler limited "$prefix/bin/oshcc" -c "$work/hello.c" -o "$work/hello.o" 2>"$work/message"; then
        fail "OSHCC_CC=$compiler compiles"
      fi
      cat "$work/message"
      grep -q "'$compiler', runs [a-z_]* again; set OSHCC_CC" "$work/message" || fail "the message for OSHCC_CC=$compiler"
    done
    for name in oshc++ oshcxx oshCC oshCXX; do
      if OSHCXX_CXX=$name PATH=$prefix/bin:$PATH limited "$name" -c "$work/hello.c" -o "$work/hello.o" 2>"$work/message"; then
        fail "OSHCXX_CXX=$name compiles"
      fi
      grep -qF "'$name', runs $name again; set OSHCXX_CXX" "$work/message" || { cat "$work/message"; fail "the message of $name"; }
    done
    ;;
  make)
    command -v make >/dev/null || { echo "SKIPPED: no make"; exit 77; }
    for way in "CC=oshcc CXX=oshc++" "CC=$prefix/bin/oshcc CXX=oshCC" "CC=oshcc CXX=oshcxx" "-e"; do
      rm -rf "$work/project"
      copy_project makefile_project
      # shellcheck disable=SC2086
      CC=oshcc CXX=oshCXX PATH=$prefix/bin:$PATH limited make -C "$work/project" $way >"$work/log" 2>&1 ||
        { tail -n 5 "$work/log" | cut -c 1-500; fail "make $way"; }
      for program in hello hello_cxx sub/hello; do run_two "$work/project/$program"; done
    done
    ;;
  autotools)
    for tool in autoreconf automake make; do
      command -v $tool >/dev/null || { echo "SKIPPED: no $tool"; exit 77; }
    done
    copy_project autotools_project
    cp "$tree/tests/install/makefile_project/hello_cxx.cpp" "$work/project"
    cd "$work/project"
    export PATH="$prefix/bin:$PATH"
    { autoreconf --install && CC=oshcc CXX=oshc++ limited ./configure && limited make; } >"$work/log" 2>&1 ||
      { tail -n 20 "$work/log" | cut -c 1-500; fail "autotools"; }
    for program in hello hello_cxx; do run_two "./$program"; done
    ;;
  nvcc) # through the wrappers, and by its own command line
    command -v "${NVCC:-}" >/dev/null || { echo "SKIPPED: no nvcc"; exit 77; }
    export SHMEM_HEAP_KIND=host
    OSHCXX_CXX=$NVCC "$prefix/bin/oshc++" -O2 "$tree/tests/install/with_nvcc.cu" -o "$work/program"
    run_two "$work/program"
    OSHCC_CC=$NVCC "$prefix/bin/oshcc" -c "$tree/examples/01_hello.c" -o "$work/hello.o"
    OSHCC_CC=$NVCC "$prefix/bin/oshcc" "$work/hello.o" -o "$work/program"
    run_two "$work/program"
    command -v pkg-config >/dev/null || { echo "no pkg-config"; exit 0; }
    # shellcheck disable=SC2046
    "$NVCC" "$tree/examples/01_hello.c" $(pkg-config --cflags --libs railshmem) -o "$work/program"
    run_two "$work/program"
    ;;
  oshcxx)
    printf '#include <shmem.h>\nint main() { shmem_init(); static int x; shmem_put(&x, &x, 1, 0); shmem_finalize(); }\n' \
      >"$work/program.cpp"
    for name in oshc++ oshcxx oshCC oshCXX; do
      "$prefix/bin/$name" -O2 -Wall -Werror "$work/program.cpp" -o "$work/program"
      run_two "$work/program"
    done
    ;;
  find_package)
    # Ninja is what builds the library; a machine need not have make, CMake's own choice.
    "$cmake" -G Ninja -S "$tree/tests/install/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" \
      -DEXAMPLE="$tree/examples/02_ring.c"
    "$cmake" --build "$work/build"
    run_two "$work/build/consumer"
    ;;
  pkg_config)
    command -v pkg-config >/dev/null || { echo "SKIPPED: no pkg-config"; exit 77; }
    # shellcheck disable=SC2046
    cc "$tree/examples/01_hello.c" $(pkg-config --cflags --libs railshmem) -o "$work/program"
    run_two "$work/program"
    ;;
  modulefile) # every shell has nothing in its environment but the module
    init=
    for file in /usr/share/modules/init/sh /usr/share/lmod/lmod/init/sh; do
      [ ! -e "$file" ] || init=$file
    done
    [ -n "$init" ] || { echo "SKIPPED: neither environment-modules nor lmod"; exit 77; }
    mkdir -p "$work/linked" "$work/copied"
    for file in "$prefix"/share/railshmem/modulefiles/railshmem/*; do
      ln -s "$file" "$work/linked/shmem"
      cp "$file" "$work/copied/shmem"
    done
    in_shell() { env -i HOME="$work" PATH=/usr/bin:/bin USER="$(id -un)" sh -c ". $init; $*" 2>&1; }
    in_shell "module use $prefix/share/railshmem/modulefiles; module load railshmem && PATH=\$PATH:$work &&
      cc $tree/examples/01_hello.c -lrailshmem -o $work/by_paths && oshcc $tree/examples/01_hello.c -o $work/by_oshcc &&
      oshrun -n 2 --timeout 60 $work/by_paths && oshrun -n 2 --timeout 60 by_oshcc && env" >"$work/log" || { cat "$work/log"; fail "a module"; }
    for setting in "MANPATH=$prefix/share/man" "PKG_CONFIG_PATH=$prefix/lib/pkgconfig" "CMAKE_PREFIX_PATH=$prefix" \
        "LD_LIBRARY_PATH=$prefix/lib" "LIBRARY_PATH=$prefix/lib" "CPATH=$prefix/include"; do
      grep -q "^$setting" "$work/log" || { cat "$work/log"; fail "the module does not set $setting"; }
    done
    [ "$(in_shell "module use $work/linked; module load shmem; command -v oshcc")" = "$prefix/bin/oshcc" ] || fail "a link to the module file"
    in_shell "module use $work/copied; module load shmem" >"$work/log" || true
    grep -q 'shmem is a copy; put a symbolic link' "$work/log" || { cat "$work/log"; fail "a copy of the module file"; }
    ;;
  programs) # they find the library of their own prefix
    run_two "$prefix/bin/shmem_perf" put_bw --validate --sizes 8,64K --seconds 0.05 --repetitions 3
    "$prefix/bin/shmem_info" >"$work/info" || fail "shmem_info"
    "$prefix/bin/shmem_info" --version | grep -qE '^shmem_info, RailSHMEM [0-9.]+, OpenSHMEM [0-9.]+$' || fail "shmem_info --version"
    ;;
  no_libfabric) # jobs on one node do without; others say what is missing
    cp -R "$prefix" "$work/prefix"
    rm "$work/prefix/lib/railshmem/librailshmem-libfabric.so"
    prefix=$work/prefix
    "$prefix/bin/oshcc" "$tree/examples/01_hello.c" -o "$work/program"
    run_two "$work/program"
    if SHMEM_TRANSPORT=ofi run_two "$work/program" >"$work/message" 2>&1; then fail "ofi without libfabric"; fi
    cat "$work/message"
    grep -q 'cannot load libfabric: librailshmem-libfabric.so.*SHMEM_TRANSPORT' "$work/message" || fail "the message"
    ;;
  needed) # PREFIX is the library itself here
    readelf -d "$prefix" | grep NEEDED >"$work/needed"
    cat "$work/needed"
    if grep -iE 'libmpi|libmpich|cuda|libpmix|libpmi|libasan|fabric' "$work/needed"; then fail "the library must not need these"; fi
    if readelf -d "$prefix" | grep TEXTREL; then fail "the library has text relocations"; fi
    ;;
  *) fail "unknown check $what" ;;
esac
echo "ok: $what"
