"""How the page looks: on a desk, on a phone, in the dark."""

STYLE = """
:root { color-scheme: light dark; --ink: #222; --faint: #5c5c5c; --line: #ddd; --paper: #fff; --link: #0064a0;
        --worse: #a33c00; --problem: #fdf3ec; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --faint: #aaa; --line: #444; --paper: #181818; --link: #6cb8ea; --worse: #ff9a5c;
          --problem: #33241a; }
}
body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: var(--ink); background: var(--paper);
       font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
nav { margin: 1rem 0; } nav a { display: inline-block; padding: .3rem 0; margin-right: 1rem; } a { color: var(--link); }
.wide { overflow-x: auto; }
.wide img { display: block; width: 100%; min-width: 40rem; max-width: 62rem; height: auto; background: #fff; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
td { min-width: 3.5rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th { font-weight: normal; }
thead th { border-bottom: 2px solid #767676; white-space: nowrap; }
summary { cursor: pointer; margin: .8rem 0; }
code { overflow-wrap: anywhere; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper); }
.finding, .hint { display: none; }
.hint { margin: .2rem 0; font-size: .85rem; color: var(--faint); }
.problem { border-left: 4px solid #d55e00; padding: .1rem 1rem; background: var(--problem); overflow-wrap: anywhere; }
#finder { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
#finder[hidden], tr[hidden] { display: none !important; }
#search { font: inherit; padding: .3rem .5rem; flex: 1 1 12rem; max-width: 26rem; }
#count { color: var(--faint); font-size: .85rem; }
#case-table th button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
#case-table th button:hover { text-decoration: underline; }
th[aria-sort=ascending] button::after { content: ' \\25B2'; }
th[aria-sort=descending] button::after { content: ' \\25BC'; }
#case-table td { white-space: nowrap; }
#case-table tbody th { overflow-wrap: anywhere; min-width: 19rem; }
#case-table td.environment { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
#case-table td { min-width: 0; }
#case-table td.steps { white-space: normal; min-width: 7rem; }
.worse { color: var(--worse); } .open b { font-style: italic; }
@media (max-width: 45rem) {
  .finding, .hint { display: block; }
  th:first-child, td:first-child { min-width: 9rem; max-width: 45vw; overflow-wrap: anywhere; white-space: normal; }
  #case-table, #case-table tbody, #case-table thead { display: block; }
  #case-table tr { display: flex; flex-wrap: wrap; gap: 0 .8rem; padding: .4rem 0;
                   border-bottom: 1px solid var(--line); }
  #case-table th, #case-table td { position: static; border: 0; padding: 0; min-width: 0; max-width: none;
                                   white-space: normal; }
  #case-table tbody th { flex: 0 0 100%; }
  #case-table thead th { padding: .3rem 0; }
  #case-table tbody th, #case-table td.environment, #case-table td.steps { min-width: 0; }
  #case-table td.none { display: none; }
  #case-table td::before { color: var(--faint); }
  #case-table thead tr::before { content: 'sort by'; color: var(--faint); padding: .3rem 0; }
  .newest::before { content: 'newest '; } .ratio::before { content: '/ before '; }
  .quartiles::before { content: 'quartiles '; } .n::before { content: 'n '; } .steps::before { content: 'steps '; }
  .commits::before { content: 'commits '; }
}
"""
