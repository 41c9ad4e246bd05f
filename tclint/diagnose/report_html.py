"""A diagnosis as one HTML file that needs nothing else: styles and plots are in it, light and dark."""

from __future__ import annotations

from html import escape

from tclint.diagnose import figures, plot
from tclint.diagnose.measurement import Diagnosis
from tclint.diagnose.plot import Bar, Group, Line
from tclint.diagnose.verdict import headline, verdicts_of

EAGER, COMPILED, THIRD, BROKEN = 0, 1, 2, 3

STYLE = """
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1b2230;--soft:#5b6577;--rule:#e3e7ee;--accent:#3451d1;
--s0:#98a3b5;--s1:#3451d1;--s2:#0f8f7e;--s3:#cf3f4f;--good:#0b7a53;--goodbg:#e3f5ec;--warn:#8a5200;--warnbg:#fdf0d8;
--bad:#b02a3a;--badbg:#fdeaec;--code:#f0f2f6}
@media (prefers-color-scheme:dark){:root{--bg:#10141c;--card:#181e29;--ink:#e6eaf2;--soft:#9aa5b8;--rule:#2a3342;
--accent:#8ea2ff;--s0:#6c7890;--s1:#8ea2ff;--s2:#4cc7b3;--s3:#ff7d8b;--good:#6fdcab;--goodbg:#12352a;--warn:#f3c26b;
--warnbg:#3a2c10;--bad:#ff98a3;--badbg:#40191f;--code:#222a38}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 24px 64px}
header p{margin:0;color:var(--soft);font-size:13px;letter-spacing:.02em}
h1{margin:2px 0 20px;font-size:26px;line-height:1.25;font-weight:650;overflow-wrap:anywhere}
h2{margin:0 0 14px;font-size:17px;font-weight:650}
section,.verdicts>div{background:var(--card);border:1px solid var(--rule);border-radius:12px}
section{padding:22px 24px;margin-top:20px}
.verdicts{display:grid;grid-template-columns:repeat(auto-fit,minmax(230px,1fr));gap:16px}
.verdicts>div{padding:18px 20px}
.verdicts b{display:block;font-size:24px;line-height:1.2;margin:2px 0 6px;font-weight:650}
.verdicts span{color:var(--soft);font-size:13px}
.keep b{color:var(--good)}.stay b{color:var(--warn)}.bad b{color:var(--bad)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:0;font-size:14px}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;color:var(--soft);font-weight:550;font-size:12.5px;border-bottom:1px solid var(--rule);padding:6px 14px 6px 0}
td{padding:8px 14px 8px 0;border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:break-word}
tr:last-child td{border-bottom:0}th:last-child,td:last-child{padding-right:0}
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.place{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px;white-space:nowrap}
.total td{font-weight:650;border-top:1px solid var(--rule)}
.tag{display:inline-block;padding:1px 9px;border-radius:99px;font-size:12.5px;font-weight:600;white-space:nowrap}
.tag.good{color:var(--good);background:var(--goodbg)}.tag.warn{color:var(--warn);background:var(--warnbg)}
.tag.bad{color:var(--bad);background:var(--badbg)}
ul{margin:12px 0 0;padding-left:18px;color:var(--soft);font-size:14px}li{overflow-wrap:anywhere}
figure{margin:0 0 18px;overflow-x:auto}figcaption{font-size:13px;color:var(--soft);margin-bottom:8px}
svg{display:block;width:100%;max-width:760px;height:auto}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:var(--ink)}
svg .tick,svg .label{fill:var(--soft)}svg .value{font-variant-numeric:tabular-nums}
.s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}.s3{fill:var(--s3)}
.l0,.l1,.l2,.l3{fill:none;stroke-width:2}.l0{stroke:var(--s0)}.l1{stroke:var(--s1)}.l2{stroke:var(--s2)}.l3{stroke:var(--s3)}
.axis,.grid{stroke:var(--rule);fill:none}.whisker{stroke:var(--ink);stroke-width:1.2;fill:none;opacity:.7}
footer{margin-top:28px;color:var(--soft);font-size:13px}
@media (max-width:760px){main{padding:24px 14px 48px}section{padding:18px 16px}svg{min-width:620px}
thead{display:none}table,tbody,tr,td{display:block;width:100%}tr{padding:8px 0;border-bottom:1px solid var(--rule)}
tr:last-child{border-bottom:0}td,td.n,td.place,.total td{display:flex;justify-content:space-between;gap:16px;border:0;padding:2px 0;
text-align:right;white-space:normal;overflow-wrap:anywhere}td:empty{display:none}
td::before{content:attr(data-of);flex:none;color:var(--soft);text-align:left;font:550 12.5px/1.7 system-ui,sans-serif}}
@media print{body{background:#fff}section,.verdicts>div{break-inside:avoid}}
"""

_TAGS = {
    "keep": "good",
    "ok": "good",
    "stay eager": "warn",
    "not run": "warn",
    figures.UNRATED: "warn",
    "differs": "bad",
}


def render(diagnosis: Diagnosis) -> str:
    plots = {
        "breaks": _frames_plot(diagnosis),
        "speed": _speed_plot(diagnosis) + _memory_plot(diagnosis),
        "shapes": _shapes_plots(diagnosis),
        "latency": _latency_plot(diagnosis),
        "modes": _modes_plot(diagnosis),
    }
    body = [
        f"<header><p>torch.compile diagnosis</p><h1>{escape(diagnosis.target)}</h1></header>",
        _verdicts(diagnosis),
        f"<section><h2>Run</h2>{_circumstances(diagnosis)}</section>",
    ]
    if diagnosis.breaks is not None:
        body.append(_section(figures.severity_table(diagnosis), ""))
    body += [_section(section, plots.get(section.name, "")) for section in figures.sections(diagnosis)]
    left = figures.states(diagnosis)
    if left:
        items = "".join(f"<li>{escape(each)}</li>" for each in left)
        body.append(f"<section><h2>Not measured, or not all of it</h2><ul>{items}</ul></section>")
    body.append(
        "<footer>Times are medians of warm steps, measured in alternating blocks of which the fastest count, in several "
        "processes of which the fastest counts; ± is half the distance between the quartiles, or to the next process "
        "where that is more. The first step, which compiles, is never compared with a warm one.</footer>"
    )
    title = escape(f"{diagnosis.target} – torch.compile diagnosis")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _verdicts(diagnosis: Diagnosis) -> str:
    cards = [
        f'<div class="{"keep" if each.word == "keep" else "stay"}"><span>{escape(each.kind)}</span><b>{each.word}</b>'
        f"<span>{escape(each.words)}</span></div>"
        for each in verdicts_of(diagnosis)
    ]
    if not cards:
        cards.append(f"<div><span>verdict</span><b>none</b><span>{escape(headline(diagnosis))}</span></div>")
    breaks = diagnosis.breaks
    if breaks is not None:
        number = len(breaks.breaks)
        kind = "bad" if number else "keep"
        again = len(breaks.recompiles)
        noun = "function recompiles" if again == 1 else "functions recompile"
        said = f"{again} {noun} too often" if again else "no needless recompiles"
        cards.append(f'<div class="{kind}"><span>graph breaks</span><b>{number}</b><span>{said}</span></div>')
    if diagnosis.numerics is not None:
        wrong = sum(row.verdict == "differs" for row in diagnosis.numerics.rows)
        kind, word = ("bad", f"{wrong} differ") if wrong else ("keep", "agree")
        said = "compiled values against eager ones, by dtype"
        cards.append(f'<div class="{kind}"><span>numerics</span><b>{word}</b><span>{said}</span></div>')
    return f'<div class="verdicts">{"".join(cards)}</div>'


def _circumstances(diagnosis: Diagnosis) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in figures.circumstances(diagnosis)
    )
    return f"<dl>{rows}</dl>"


def _section(section: figures.Section, drawn: str) -> str:
    parts = [f"<h2>{escape(section.title)}</h2>", drawn]
    if section.rows:
        parts.append(_table(section))
    if section.notes:
        parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in section.notes) + "</ul>")
    return f'<section id="{section.name}">{"".join(parts)}</section>'


def _table(section: figures.Section) -> str:
    def cell(number: int, text: str) -> str:
        kind = "n" if number in section.numbers else "place" if section.columns[number] in ("Line", "Function") else ""
        word = text.partition(":")[0]
        inner = escape(text)
        if word in _TAGS and section.columns[number] in ("Verdict", "Rule"):
            rest = escape(text[len(word) :].lstrip(": "))
            inner = f'<span class="tag {_TAGS[word]}">{escape(word)}</span> {rest}'
        # On a narrow screen a row is a list, and each cell says what it is of.
        attributes = f' data-of="{escape(section.columns[number])}"' + (f' class="{kind}"' if kind else "")
        return f"<td{attributes}><span>{inner}</span></td>" if inner else f"<td{attributes}></td>"

    head = "".join(
        f'<th class="n">{escape(c)}</th>' if n in section.numbers else f"<th>{escape(c)}</th>"
        for n, c in enumerate(section.columns)
    )
    rows = "".join(
        ('<tr class="total">' if row[0] == "Total" else "<tr>")
        + "".join(cell(number, text) for number, text in enumerate(row))
        + "</tr>"
        for row in section.rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


# --- plots ------------------------------------------------------------------------------------------------------------


def _figure(caption: str, drawn: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{drawn}</figure>"


def _frames_plot(diagnosis: Diagnosis) -> str:
    frames = diagnosis.breaks.frames if diagnosis.breaks is not None else ()
    shown = sorted(frames, key=lambda row: (-row.breaks, -row.programs))[:12]
    if not shown:
        return ""
    groups = [
        Group(
            row.name,
            (
                Bar(row.programs, f"{row.programs} programs" if row.programs != 1 else "1 program", COMPILED),
                *(
                    (Bar(row.breaks, f"{row.breaks} breaks" if row.breaks != 1 else "1 break", BROKEN),)
                    if row.breaks
                    else ()
                ),
            ),
        )
        for row in shown
    ]
    legend = (("programs compiled", COMPILED), ("graph breaks", BROKEN))
    more = f"; {len(frames) - len(shown)} more have no break" if len(frames) > len(shown) else ""
    return _figure(f"Programs and breaks by function{more}", plot.bars("programs and breaks", groups, legend))


def _speed_plot(diagnosis: Diagnosis) -> str:
    rows = diagnosis.speed.rows if diagnosis.speed is not None else ()
    if not rows:
        return ""
    groups = [
        Group(
            row.kind,
            tuple(
                Bar(each.median_ms, figures.ms(each.median_ms), series, each.spread_ms)
                for each, series in ((row.eager, EAGER), (row.compiled, COMPILED))
            ),
        )
        for row in rows
    ]
    return _figure("Warm step", plot.bars("step times", groups, (("eager", EAGER), ("compiled", COMPILED))))


def _memory_plot(diagnosis: Diagnosis) -> str:
    rows = diagnosis.speed.rows if diagnosis.speed is not None else ()
    groups = [
        Group(
            row.kind,
            (
                Bar(row.eager_peak_mb, figures.mb(row.eager_peak_mb), EAGER),
                Bar(row.compiled_peak_mb, figures.mb(row.compiled_peak_mb), COMPILED),
            ),
        )
        for row in rows
        if row.eager_peak_mb is not None and row.compiled_peak_mb is not None
    ]
    if not groups:
        return ""
    return _figure("Peak memory", plot.bars("peak memory", groups, (("eager", EAGER), ("compiled", COMPILED))))


def _shapes_plots(diagnosis: Diagnosis) -> str:
    rows = diagnosis.shapes.rows if diagnosis.shapes is not None else ()
    out = []
    for axis in dict.fromkeys(row.axis for row in rows):
        mine = [row for row in rows if row.axis == axis and row.steps]
        if not mine:
            continue
        ticks = [step.shape for step in max(mine, key=lambda row: len(row.steps)).steps]
        series = []
        for row in mine:
            values, total = [], 0
            for step in row.steps:
                total += step.compilations
                values.append(float(total))
            label = "marked dynamic" if row.marked else "not marked"
            series.append(Line(label, tuple(values), THIRD if row.marked else BROKEN, row.marked))
        caption = f"Programs compiled so far, over a varying {axis}"
        out.append(_figure(caption, plot.lines(caption, ticks, series, f"{axis}, in the order of the calls")))
    return "".join(out)


def _latency_plot(diagnosis: Diagnosis) -> str:
    rows = diagnosis.latency.rows if diagnosis.latency is not None else ()
    if not rows:
        return ""
    groups = [
        Group(figures.latency_label(row), (Bar(row.first_s, figures.seconds(row.first_s), COMPILED),)) for row in rows
    ]
    return _figure("First step, caches off", plot.bars("compile latency", groups))


def _modes_plot(diagnosis: Diagnosis) -> str:
    if diagnosis.modes is None or not diagnosis.modes.rows:
        return ""
    rows, eager = diagnosis.modes.rows, figures.eager_of(diagnosis.modes)
    groups = [Group("eager", (Bar(eager.median_ms, figures.ms(eager.median_ms), EAGER, eager.spread_ms),))]
    groups += [
        Group(
            row.mode,
            (Bar(row.compiled.median_ms, figures.ms(row.compiled.median_ms), COMPILED, row.compiled.spread_ms),),
        )
        for row in rows
    ]
    return _figure("Warm step by mode", plot.bars("step times by mode", groups))
