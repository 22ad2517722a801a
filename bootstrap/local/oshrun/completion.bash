# SPDX-License-Identifier: BSD-3-Clause
# Completion for oshrun in bash; installed where bash-completion looks. Without that package: source this file.

_oshrun() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i
  COMPREPLY=()
  # Behind the program everything belongs to the program: bash completes file names then.
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) return ;;
      -n | -np | --np | -H | --host | --hostfile | --ssh | --bind-to | --wdir | -x | --env | --timeout) i=$((i + 1)) ;;
      -*) ;;
      *) return ;;
    esac
  done
  local words=
  case $before in
    --bind-to) words="core numa none" ;;
    -H | --host) words=$(compgen -A hostname -- "$word") ;;
    -x | --env)
      mapfile -t COMPREPLY < <(compgen -v -- "$word")
      return
      ;;
    --hostfile) mapfile -t COMPREPLY < <(compgen -f -- "$word") && return ;;
    --wdir) mapfile -t COMPREPLY < <(compgen -d -- "$word") && return ;;
    -n | -np | --np | --ssh | --timeout) return ;;
    *)
      if [[ $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
        return
      fi
      # What this oshrun knows, whatever its version.
      words="$("$1" --help 2>/dev/null | grep -oE -- '(^|[ ,])--?[a-z][-a-z]*' | tr -d ' ,' | sort -u) -np"
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _oshrun oshrun
