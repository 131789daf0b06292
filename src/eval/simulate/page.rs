use std::fmt::Write;

use super::{PolicyRow, SimulationReport};

/// One page for a browser that shows reports as tables and charts. It needs nothing beside it: no
/// script, no style sheet, no network.
pub fn page(reports: &[SimulationReport]) -> String {
    let mut out = String::from(HEAD);
    for report in reports {
        let SimulationReport { conversations, turns, policies, .. } = report;
        _ = write!(
            out,
            "<section>\n<h2>{}</h2>\n<p>{}: {conversations} conversations, {turns} turns. Every conversation begins \
             with an empty cache.</p>\n",
            escaped(&report.price_sheet),
            escaped(&report.source),
        );
        out.push_str(&chart("Cost of the input", policies, |row| Bar {
            parts: vec![("cost", row.cost)],
            text: match row.cost_ratio_to_all {
                Some(share) => format!("${:.4} · {} of all", row.cost, percent(share)),
                None => format!("${:.4}", row.cost),
            },
        }));
        out.push_str(&chart("Input tokens", policies, |row| Bar {
            parts: vec![
                ("written", row.tokens.written as f64),
                ("read", row.tokens.read as f64),
                ("uncached", row.tokens.uncached as f64),
            ],
            text: format!("{} read from the cache", percent(row.hit_ratio)),
        }));
        out.push_str(LEGEND);
        out.push_str(&chart("Needed tools that were offered", policies, |row| Bar {
            parts: vec![("offered", row.tools_offered_ratio)],
            text: format!(
                "{} · prefix changed before {} of turns",
                percent(row.tools_offered_ratio),
                percent(row.prefix_changed_ratio)
            ),
        }));
        out.push_str(&table(policies));
        out.push_str("</section>\n");
    }
    out.push_str("</body>\n</html>\n");
    out
}

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Simulated conversations</title>
<style>
:root { color-scheme: light dark; --cost: #3b6fb6; --written: #c2703d; --read: #4c956c; --uncached: #8a8a8a; --offered: #7a5ba6; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; } i { font-style: normal; }
i.written { color: var(--written); } i.read { color: var(--read); } i.uncached { color: var(--uncached); }
svg { width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
.cost { fill: var(--cost); } .written { fill: var(--written); } .read { fill: var(--read); }
.uncached { fill: var(--uncached); } .offered { fill: var(--offered); }
table { border-collapse: collapse; margin-top: 1.5rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8885; } th:first-child, td:first-child { text-align: left; }
</style>
</head>
<body>
<h1>What each way of delivering tools costs</h1>
"#;

const LEGEND: &str = r#"<p><i class="written">written to the cache</i>, <i class="read">read from it</i>, <i class="uncached">neither</i></p>
"#;

/// A bar made of parts that stand one after the other, each with its class, and what stands behind it.
struct Bar {
    parts: Vec<(&'static str, f64)>,
    text: String,
}

/// One bar for each policy, on one scale.
fn chart(title: &str, rows: &[PolicyRow], bar: impl Fn(&PolicyRow) -> Bar) -> String {
    const HEIGHT: usize = 26;
    // Names on the left, words behind the longest bar on the right.
    let (left, full, right) = (80.0, 500.0, 320.0);
    let bars: Vec<_> = rows.iter().map(|row| (row.policy, bar(row))).collect();
    let length = |bar: &Bar| bar.parts.iter().map(|(_, value)| value).sum::<f64>();
    let most = bars.iter().map(|(_, bar)| length(bar)).fold(f64::MIN_POSITIVE, f64::max);
    let (width, height) = (left + full + right, bars.len() * HEIGHT);
    let mut out = format!(
        "<h3>{title}</h3>\n<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title} by policy\">\n"
    );
    for (i, (policy, bar)) in bars.iter().enumerate() {
        let (top, middle) = (i * HEIGHT + 4, i * HEIGHT + 18);
        _ = writeln!(out, "<text x=\"0\" y=\"{middle}\">{policy}</text>");
        let mut x = left;
        for (class, value) in &bar.parts {
            let width = full * value / most;
            _ = writeln!(out, "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"18\"/>");
            x += width;
        }
        _ = writeln!(out, "<text x=\"{:.1}\" y=\"{middle}\">{}</text>", x + 8.0, bar.text);
    }
    out.push_str("</svg>\n");
    out
}

fn table(rows: &[PolicyRow]) -> String {
    let head = [
        "policy",
        "written",
        "read",
        "uncached",
        "array, tokens a turn",
        "requests",
        "refused",
        "input, $",
        "with output, $",
    ];
    let mut out = String::from("<table>\n");
    cells("th", head.map(str::to_owned), &mut out);
    for row in rows {
        let values = [
            row.policy.to_string(),
            row.tokens.written.to_string(),
            row.tokens.read.to_string(),
            row.tokens.uncached.to_string(),
            format!("{:.0}", row.tool_tokens),
            row.requests.to_string(),
            row.rejected.to_string(),
            format!("{:.4}", row.cost),
            row.cost_with_output.map_or("-".to_owned(), |cost| format!("{cost:.4}")),
        ];
        cells("td", values, &mut out);
    }
    out.push_str("</table>\n");
    out
}

/// A row of a table.
fn cells<const N: usize>(tag: &str, values: [String; N], out: &mut String) {
    out.push_str("<tr>");
    values.iter().for_each(|value| _ = write!(out, "<{tag}>{value}</{tag}>"));
    out.push_str("</tr>\n");
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// As text in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
