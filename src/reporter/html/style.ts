/** The one style of every page. No address in it, and no text of anybody. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--soft:#f5f7fa;--card:#fff;--fg:#1b2129;--quiet:#56606d;--line:#d5dbe3;--accent:#0b57b5;--good:#18713a;--bad:#b3261e;--open:#80560b;--goodbg:#e7f5ec;--badbg:#fdecea;--openbg:#fdf3dd;--band:#0b57b51f;--hatch:#8a94a2;
--h0:#eef3fa;--h1:#c6daf1;--h2:#8db8e5;--h3:#276db3;--h4:#0d4a8f;--h0f:#1b2129;--h1f:#1b2129;--h2f:#10151b;--h3f:#fff;--h4f:#fff;
--k0:#0b57b5;--k1:#b3261e;--k2:#18713a;--k3:#7a3fb0;--k4:#a05a00;--k5:#00738a;--k6:#a1226f;--k7:#4b5563}
@media(prefers-color-scheme:dark){:root{--bg:#0e1217;--soft:#161c24;--card:#131920;--fg:#e5eaf0;--quiet:#9fabb8;--line:#2e3845;--accent:#7fb6ff;--good:#62d389;--bad:#ff8f85;--open:#eabf5a;--goodbg:#12291b;--badbg:#331a18;--openbg:#2e2512;--band:#7fb6ff26;--hatch:#6d7987;
--h0:#18222e;--h1:#1d3a5c;--h2:#28598f;--h3:#5fa0e2;--h4:#b5d7fb;--h0f:#e5eaf0;--h1f:#e5eaf0;--h2f:#fff;--h3f:#0b1016;--h4f:#0b1016;
--k0:#7fb6ff;--k1:#ff8f85;--k2:#62d389;--k3:#c9a2f5;--k4:#eabf5a;--k5:#5fd0e3;--k6:#f590cf;--k7:#b6c0cb}}
*{box-sizing:border-box}
html{scroll-padding-top:3.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:80rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.2rem;margin:0 0 .75rem}
h3{font-size:1rem;margin:1.5rem 0 .5rem}
h4{font-size:.9rem;margin:1rem 0 .4rem}
h5{font-size:.9rem;margin:0 0 .4rem}
p{margin:.4rem 0}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem;z-index:9}
nav{position:sticky;top:0;z-index:5;background:var(--bg);border-bottom:1px solid var(--line)}
nav ul{display:flex;flex-wrap:nowrap;overflow-x:auto;gap:.1rem 1.1rem;list-style:none;max-width:80rem;margin:0 auto;padding:.55rem 1.25rem;white-space:nowrap}
nav a{text-decoration:none;font-size:.9rem}
nav a:hover{text-decoration:underline}
section{margin:1.25rem 0;padding:1.1rem 1.25rem;border:1px solid var(--line);border-radius:10px;background:var(--card)}
.card{border-left-width:6px}
.v-good{border-left-color:var(--good)}.v-bad{border-left-color:var(--bad)}.v-open{border-left-color:var(--open)}
#verdict h2{font-size:1.25rem;font-weight:600}
.word{display:inline-block;border-radius:6px;padding:.1rem .6rem;margin-right:.5rem;font-weight:700;letter-spacing:.02em}
.v-good .word{color:var(--good);background:var(--goodbg)}.v-bad .word{color:var(--bad);background:var(--badbg)}.v-open .word{color:var(--open);background:var(--openbg)}
.q,.cut{color:var(--quiet)}
.q{font-size:.9em}
.cut{font-style:italic;font-size:.9em}
.t-good{color:var(--good)}.t-bad{color:var(--bad)}.t-open{color:var(--open)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.85em}
pre{white-space:pre-wrap;margin:.3rem 0;padding:.5rem .65rem;background:var(--soft);border:1px solid var(--line);border-radius:6px;unicode-bidi:plaintext;tab-size:4}
pre .c{color:var(--bad);font-weight:400;border-bottom:1px dotted var(--bad)}
.chip{display:inline-block;border:1px solid var(--line);border-radius:999px;padding:0 .5rem;font-size:.8rem;line-height:1.45;white-space:nowrap;background:var(--soft)}
.o-ship{color:var(--good);background:var(--goodbg)}.o-regress,.o-invalid,.u-task_fail{color:var(--bad);background:var(--badbg)}.o-inconclusive,.o-underpowered{color:var(--open);background:var(--openbg)}
.letter{display:inline-block;min-width:1.35em;padding:0 .25em;text-align:center;font-size:.8em;font-weight:700;border:1px solid var(--line);border-radius:4px;background:var(--soft)}
.scroll{overflow-x:auto;margin:.6rem 0;container-type:inline-size}
table{border-collapse:collapse;width:100%;font-size:.9rem;overflow-wrap:break-word}
th,td{padding:.4rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
thead th{font-weight:600;color:var(--quiet);font-size:.82rem;vertical-align:bottom;border-bottom:2px solid var(--line)}
tbody th{font-weight:500;overflow-wrap:anywhere;min-width:7rem}
.r{text-align:right;font-variant-numeric:tabular-nums}
td{min-width:5rem}
td p{margin:0 0 .3rem}
svg text{fill:var(--quiet);font-size:11px}
.forest{margin:.5rem 0}
.fr{display:grid;grid-template-columns:minmax(9rem,15rem) 1fr minmax(9rem,14rem);gap:.75rem;align-items:center}
.fr .bar,.fr .axis{overflow:visible;display:block}
.fl{font-weight:500}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:0 2rem}
.fn{font-variant-numeric:tabular-nums;font-size:.9rem}
.band{fill:var(--band)}
.ci{stroke:var(--fg);stroke-width:2;fill:none}
.pt{fill:var(--accent);stroke:var(--card);stroke-width:1.5}
.l-zero{stroke:var(--quiet);stroke-width:1.5}.l-limit{stroke:var(--accent);stroke-width:1.5;stroke-dasharray:4 3}.l-goal{stroke:var(--good);stroke-width:1.5;stroke-dasharray:1 3}
.legend{font-size:.85rem;color:var(--quiet);display:flex;flex-wrap:wrap;gap:.2rem 1rem}
.legend svg{vertical-align:-2px}
.legend rect{stroke:var(--line)}
.share{display:block;min-width:8rem;border-radius:3px}
.s-scored{fill:var(--k0)}.s-fail{fill:var(--k4)}.s-none{fill:var(--soft)}.s-missing{fill:url(#hatch)}
.heat{width:auto}
.heat td{text-align:center;border:2px solid var(--card);min-width:5.5rem;font-variant-numeric:tabular-nums}
.heat td span{font-size:.8em}
.heat th{border:0;padding:.2rem .6rem .2rem 0}
.heat td{padding:.2rem .5rem}
td.h0{background:var(--h0);color:var(--h0f)}td.h1{background:var(--h1);color:var(--h1f)}td.h2{background:var(--h2);color:var(--h2f)}td.h3{background:var(--h3);color:var(--h3f)}td.h4{background:var(--h4);color:var(--h4f)}
td.hx{color:var(--fg);background:repeating-linear-gradient(45deg,var(--card) 0 5px,var(--line) 5px 7px)}
td.hx span{background:var(--card);padding:0 .3em;border-radius:3px}
td.part{outline:2px dashed var(--hatch);outline-offset:-3px}
.h0{fill:var(--h0)}.h1{fill:var(--h1)}.h2{fill:var(--h2)}.h3{fill:var(--h3)}.h4{fill:var(--h4)}.hx{fill:url(#hatch)}
.blocks{display:flex;flex-wrap:wrap;gap:.9rem}
.hl{stroke:var(--hatch);stroke-width:1.5}
.hb{fill:var(--card)}
.st{vertical-align:-3px;margin-right:.3rem}
.sb{fill:var(--k0)}.sl{stroke:var(--quiet);fill:none}.sx{stroke:var(--bad);stroke-width:1.8;fill:none}.sm{stroke:var(--hatch);stroke-dasharray:2 2;fill:none}
.sc .n{font-variant-numeric:tabular-nums}
.sc tr:not(.d)>*{border-bottom:0;white-space:nowrap}
.sc tbody th{white-space:normal;min-width:11rem;overflow-wrap:anywhere}
.sc tr.d>td{padding-top:0}
.sc thead button{font:inherit;color:inherit;background:none;border:0;padding:.2rem 0;cursor:pointer;text-align:left}
.sc thead button::after{content:" ↕"}
.sc [aria-sort=ascending] button::after{content:" ▲"}
.sc [aria-sort=descending] button::after{content:" ▼"}
summary{cursor:pointer;color:var(--accent);font-size:.88rem}
.dt>summary{width:max-content;max-width:100%}
.sc .dt,.sc .d .cut{position:sticky;left:.6rem;max-width:calc(100cqw - 1.2rem)}
.dt[open]{padding-bottom:.75rem}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:.75rem;align-items:start}
.sides>*{min-width:0}
.cell:has(.exs[open]){grid-column:1/-1}
.cell{border:1px solid var(--line);border-radius:8px;padding:.6rem .75rem;background:var(--bg)}
.exs .sides{grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr))}
.ex{border-top:1px solid var(--line);padding:.35rem 0}
.ex summary{overflow-wrap:anywhere}
.scores{list-style:none;margin:.4rem 0;padding:0}
blockquote{margin:.2rem 0 .2rem 1rem}
.filter{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:end;margin:.75rem 0;font-size:.9rem}
.filter[hidden]{display:none}
.filter label{display:grid;gap:.15rem;color:var(--quiet)}
.filter .check{display:flex;align-items:center;gap:.35rem;height:2.1rem}
.filter .check input{height:auto}
input,select,.filter button{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--quiet);border-radius:6px;padding:.3rem .5rem;max-width:100%;height:2.1rem}
.filter select{max-width:14rem}
output{color:var(--quiet);padding-bottom:.35rem}
.chart{display:grid;grid-template-columns:52px minmax(0,1fr);margin:.5rem 0;padding-top:6px}
.chart.ends{grid-template-columns:52px minmax(0,1fr) 56px}
.chart svg{display:block;overflow:visible}
.frame{fill:var(--soft);stroke:var(--line)}
.grid{stroke:var(--line)}
.disc{fill:var(--accent)}
svg .in{fill:var(--bg);font-weight:700}
svg .arrow{fill:var(--fg)}
.pane .ci{opacity:.75}
.k0,.k1,.k2,.k3,.k4,.k5,.k6,.k7{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}
.k0{stroke:var(--k0)}.k1{stroke:var(--k1);stroke-dasharray:7 3}.k2{stroke:var(--k2);stroke-dasharray:2 3}.k3{stroke:var(--k3);stroke-dasharray:9 3 2 3}.k4{stroke:var(--k4);stroke-dasharray:12 4}.k5{stroke:var(--k5);stroke-dasharray:4 2}.k6{stroke:var(--k6);stroke-dasharray:1 2}.k7{stroke:var(--k7);stroke-dasharray:10 2 2 2 2 2}
.cuts{overflow:visible}
dl{display:grid;grid-template-columns:minmax(9rem,16rem) 1fr;gap:.35rem 1rem;margin:0}
dt{color:var(--quiet)}
dd{margin:0}
footer{padding-bottom:2rem;color:var(--quiet);font-size:.9rem}
.defs{position:absolute;width:0;height:0}
@media(max-width:640px){header,main,footer,nav ul{padding-left:.75rem;padding-right:.75rem}section{padding:.9rem .8rem}.heat td{min-width:4.2rem}.fr{grid-template-columns:1fr;gap:.1rem;margin-bottom:.6rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}.sc tbody th{min-width:8rem}}
@media print{nav,.filter,.skip{display:none}section,.cell,tr{break-inside:avoid}#scenarios,#failures{break-inside:auto}section{border-color:#999}.scroll{overflow:visible}body{font-size:11px}td,rect,path,.word,.chip{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`
