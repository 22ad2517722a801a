# SPDX-License-Identifier: BSD-3-Clause
# What `scripts/lint.sh markdown` asks of Markdown files: the rules of mdl but for a few.
all
exclude_rule 'MD002' # it and MD041 do not see a title behind a comment
exclude_rule 'MD041'
exclude_rule 'MD013' # tables and links are as long as they are
exclude_rule 'MD040' # output of programs has no language
rule 'MD029', :style => 'ordered'
