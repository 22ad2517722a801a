// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/lone_task.h"

#include <gtest/gtest.h>

#include <map>

namespace railshmem {
namespace {

std::string described(const std::map<std::string, std::string>& environment) {
  return describe_lone_task([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

void expect_holds(const std::string& text, std::initializer_list<const char*> phrases) {
  for (const char* phrase : phrases) EXPECT_NE(text.find(phrase), std::string::npos) << phrase << " in: " << text;
}

TEST(LoneTask, SaysWhatIsMissingAndHowToStart) {
  expect_holds(described({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}}),
               {"SLURM_PROCID is 1 and SLURM_NTASKS is 4", "a job of one PE", "srun --mpi=pmix"});
  expect_holds(described({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "2"}}),
               {"SLURM_STEP_NUM_TASKS is 2"});
  expect_holds(described({{"RANK", "0"}, {"WORLD_SIZE", "2"}}),
               {"RANK is 0 and WORLD_SIZE is 2", "MASTER_ADDR and MASTER_PORT are not set", "torchrun"});
  expect_holds(described({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", ""}}),
               {"but MASTER_PORT is not set"});
  expect_holds(described({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), {"PMIX_RANK", "mpirun"});
  expect_holds(described({{"SLURM_STEP_NUM_TASKS", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}}),
               {"OMPI_COMM_WORLD_SIZE is 2"});
  expect_holds(described({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), {"PMI_FD", "mpiexec"});
}

TEST(LoneTask, SaysNothingToOneThatIsAloneOnPurpose) {
  using Environment = std::map<std::string, std::string>;
  for (const Environment& environment :
       {Environment{}, Environment{{"SLURM_NTASKS", "4"}}, Environment{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}},
        Environment{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}},
        Environment{{"RANK", "0"}, {"WORLD_SIZE", "1"}}, Environment{{"RANK", "first"}, {"WORLD_SIZE", "2"}},
        Environment{{"WORLD_SIZE", "2"}}})
    EXPECT_EQ(described(environment), "");
}

}  // namespace
}  // namespace railshmem
