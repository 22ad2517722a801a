// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/base/printable.h"

namespace railshmem::oshrun {
namespace {

constexpr int kUsageStatus = 2;  // as getopt-based tools and shells use for a wrong command line
constexpr const char* kUsage = "oshrun -n N [options] [--] program [arguments]";
// Without a terminal to ask at; -x and -T: neither X11 nor a terminal over there; a host that has gone is noticed.
// The man page has these as sections of its own (scripts/gen_man.py).
constexpr const char* kAfterOptions = R"(Exit status:
  0               Every PE ended with 0.
  STATUS          The argument of shmem_global_exit, or the status of the first PE that failed.
  128 + SIGNAL    The first PE that failed was killed by this signal.
  1               A PE or a host could not be started, or the connection to a host broke.
  2               The command line is wrong.
  124             --timeout ended the job.
  126, 127        The program cannot be started, or is not found.

Examples:
  oshrun -n 4 ./program             Four PEs on this host.
  oshrun -H node0:2,node1:2 ./program
                                    Two PEs on each of two hosts, by ssh.
  oshrun -n 2 -x SHMEM_INFO=1 ./program
                                    Shows what the job chose: heap, network, rails.
  oshrun -n 2 --tag-output ./program
                                    Begins each line of output with its PE.
  oshrun -n 2 --timeout 60 ./program
                                    Ends the job after a minute.
  oshrun -n 1 gdb --args ./program  Starts the program in a debugger.)";
constexpr const char* kSsh = "ssh -x -T -o BatchMode=yes -o ServerAliveInterval=15";

/// As the command line gives it.
struct Words {
  std::string npes;
  std::vector<std::string> environment;
  std::string hosts;
  std::string hostfile;
  std::string ssh = kSsh;
  std::string bind;  // empty: automatic
};

std::vector<std::pair<std::string, std::string>> assignment(const std::string& entry) {
  const size_t equal = entry.find('=');
  if (equal != 0 && equal != std::string::npos) return {{entry.substr(0, equal), entry.substr(equal + 1)}};
  // As with other launchers a name alone passes the variable on, which happens anyway.
  if (equal == std::string::npos && std::getenv(entry.c_str())) return {};
  throw Error(text("-x %s: use NAME=VALUE, or NAME of a variable that is set", entry.c_str()));
}

std::vector<Host> read_hostfile(const std::string& path) {
  const std::string content = read_file(path);
  if (content.empty() && errno != 0)
    throw Error(text("--hostfile %s: the file cannot be read: %s", path.c_str(), std::strerror(errno)));
  return parse_hostfile(content);
}

constexpr int kMostPes = 1 << 20;

int number_of_pes(const std::string& value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= 1 && number <= kMostPes) return number;
  throw Error(text("'%s' is not a number of PEs; give -n N with N from 1 to %d", value.c_str(), kMostPes));
}

/// "-np", which the parser would take for -n with the value p, is --np where options may stand.
std::vector<std::string> without_np(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size() && words[i].size() > 1 && words[i][0] == '-' && words[i] != "--"; ++i) {
    if (words[i] == "-np") words[i] = "--np";
    const CLI::Option* option = app.get_option_no_throw(words[i]);
    if (option && option->get_items_expected_max() > 0) ++i;  // its value
  }
  return words;
}

void add_options(CLI::App& app, Options& options, Words& words) {
  app.add_option("-n,--np", words.npes, "Number of PEs; with hosts, their slots are the default")->type_name("INT");
  app.add_option("-H,--host", words.hosts, "Hosts to start on by ssh: NAME[:PEs],...");
  app.add_option("--hostfile", words.hostfile, "File with a host a line: NAME [slots=PEs] [max_slots=PEs]")
      ->excludes("--host");
  app.add_option("--ssh", words.ssh, "Command that runs a command on another host")->capture_default_str();
  app.add_option("--bind-to", words.bind,
                 "core: a share of the cores to each PE (the default where there is one for each); numa: the CPUs of a "
                 "NUMA node; none")
      ->check(CLI::IsMember({"core", "numa", "none"}));
  app.add_option("--wdir", options.directory, "Directory to start the PEs in");
  app.add_option("-x,--env", words.environment, "Set NAME=VALUE for the PEs; may be repeated")->allow_extra_args(false);
  app.add_flag("--tag-output", options.tag_output, "Prefix every line of output with [pe]");
  app.add_option("--timeout", options.timeout_s, "End the job after this many seconds with status 124")
      ->check(CLI::PositiveNumber);
  app.add_flag("--survive", options.survive,
               "When a PE dies, let the others go on, for programs that mask dead PEs; sets SHMEM_SURVIVE=1");
  app.add_flag("--clean", options.clean,
               "Start nothing; remove the files in /dev/shm that killed PEs of this user have left on this host");
  app.add_flag("-v,--verbose", options.verbose, "Say where each PE runs");
}

/// ": -n 1 ./other" begins a second program under MPI's launchers; here it would become arguments of the first one.
void refuse_second_program(const std::vector<std::string>& command) {
  for (size_t i = 1; i + 1 < command.size(); ++i)
    if (command[i] == ":" && command[i + 1].starts_with('-'))
      throw Error(
          text("': %s' would start a second program, but oshrun starts one for all PEs; branch on shmem_my_pe(), or "
               "start a script that chooses by RAILSHMEM_LAUNCHER_PE. If ':' is an argument of %s, write -- before the "
               "program",
               command[i + 1].c_str(), command[0].c_str()));
}

/// What to do instead of an option that mpirun or srun has.
const char* instead_of(std::string_view option) noexcept {
  struct Foreign {
    std::string_view name;
    const char* instead;
  };
  static constexpr const char* kPesOfAHost = "write -H NODE:PES,... or slots=PES in a --hostfile";
  static constexpr Foreign kForeign[] = {
      {"mca", "Open MPI has it; settings of this library are variables: -x SHMEM_NAME=VALUE"},
      {"oversubscribe", "leave it out: there may be more PEs than cores"},
      {"allow-run-as-root", "leave it out: root may start PEs"},
      {"machinefile", "write --hostfile"},
      {"f", "write --hostfile"},
      {"genv", "write -x NAME=VALUE"},
      {"ppn", kPesOfAHost},
      {"map-by", kPesOfAHost},
      {"ntasks-per-node", kPesOfAHost},
      {"N", kPesOfAHost},
      {"report-bindings", "write --verbose"},
  };
  option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
  for (const Foreign& foreign : kForeign)
    if (foreign.name == option) return foreign.instead;
  return "see oshrun --help";
}

void complete(Options& options, const Words& words) {
  if (!options.command.empty() && options.command.front() == "--") {
    options.command.erase(options.command.begin());
  } else if (!options.command.empty() && options.command.front().front() == '-') {
    const std::string& unknown = options.command.front();
    throw Error(text("unknown option %s; %s", unknown.c_str(), instead_of(unknown)));
  } else {
    refuse_second_program(options.command);
  }
  if (options.clean && !options.command.empty())
    throw Error(
        text("--clean starts no program, but '%s' is given; leave one of them out", options.command[0].c_str()));
  if (options.clean) return;
  if (options.command.empty()) throw Error(text("which program? usage: %s", kUsage));
  for (const std::string& entry : words.environment)
    for (auto& one : assignment(entry)) options.environment.push_back(std::move(one));
  if (options.survive) options.environment.emplace_back("SHMEM_SURVIVE", "1");
  if (!words.npes.empty()) options.npes = number_of_pes(words.npes);
  std::istringstream ssh(words.ssh);
  for (std::string word; ssh >> word;) options.ssh.push_back(word);
  if (options.ssh.empty()) throw Error("--ssh is empty; it names the command that runs a command on another host");
  if (words.bind == "core") options.bind = Bind::core;
  if (words.bind == "numa") options.bind = Bind::numa;
  if (words.bind == "none") options.bind = Bind::none;
  // Another host would start from its user's home.
  if (!options.directory.empty()) options.directory = std::filesystem::absolute(options.directory);
  std::vector<Host> hosts;
  if (!words.hosts.empty()) hosts = parse_host_list(words.hosts);
  if (!words.hostfile.empty()) hosts = read_hostfile(words.hostfile);
  if (!hosts.empty()) options.shares = place(hosts, options.npes);
  if (!hosts.empty()) options.npes = options.shares.back().first + options.shares.back().count;
  if (options.npes == 0) throw Error(text("how many PEs? usage: %s", kUsage));
}

/// The parser's own message names neither the option as it was written nor what to do.
std::string repeated_option(const CLI::App& app, const CLI::ArgumentMismatch& error) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 1 && option->get_items_expected_max() == 1)
      return text("option %s is given %zu times; give it once", option->get_name(false, true).c_str(), option->count());
  return error.what();
}

/// The parser's own line does not show where the program stands.
struct Formatter : CLI::Formatter {
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return text("Usage: %s\n", kUsage);
  }
};

}  // namespace

Parsed parse_options(int argc, const char* const* argv) {
  Parsed parsed;
  Words words;
  CLI::App app("Starts N PEs of an OpenSHMEM program, on this host or by ssh on several.", "oshrun");
  app.prefix_command();
  app.set_version_flag("--version", "oshrun, RailSHMEM " RAILSHMEM_VERSION_TEXT);
  app.formatter(std::make_shared<Formatter>());
  app.footer(kAfterOptions);
  add_options(app, parsed.options, words);
  try {
    std::vector<std::string> all = without_np(app, argc, argv);
    std::reverse(all.begin(), all.end());  // as CLI11 wants them
    app.parse(std::move(all));
    parsed.options.command = app.remaining();
    complete(parsed.options, words);
  } catch (const CLI::Success& e) {  // --help, --version
    std::ostringstream out;
    app.exit(e, out, out);
    parsed.message = out.str();
  } catch (const CLI::ArgumentMismatch& e) {
    parsed.exit_status = kUsageStatus;
    parsed.message = "oshrun: " + repeated_option(app, e) + "\n";
  } catch (const std::runtime_error& e) {
    parsed.exit_status = kUsageStatus;
    parsed.message = "oshrun: " + printable(e.what()) + "\n";
  }
  return parsed;
}

}  // namespace railshmem::oshrun
