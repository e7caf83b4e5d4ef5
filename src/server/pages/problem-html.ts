import type { Explanation } from "./explain-problem.ts";

/** The page of one error code. Nothing in it comes from a caller. */
export function htmlFromExplanation(problem: Explanation): string {
  return frame(
    problem.title,
    `<h1>${htmlText(problem.title)}</h1>
<p>${htmlText(problem.about)}</p>
<h2>What to do</h2>
<p>${htmlText(problem.next_action_about)}</p>
<dl>
<dt>code</dt><dd><code>${problem.code}</code></dd>
<dt>HTTP status</dt><dd>${problem.status}</dd>
<dt>gRPC code</dt><dd><code>${problem.grpc_code}</code></dd>
<dt>next_action</dt><dd><code>${problem.next_action}</code>, unless the problem document names another</dd>
</dl>
<p><a href="/problems">All problems</a></p>`,
  );
}

/** The list of all error codes. */
export function htmlFromExplanations(problems: readonly Explanation[]): string {
  const rows = problems.map(
    ({ type, code, status, about }) =>
      `<tr><td>${status}</td><td><a href="${type}"><code>${code}</code></a></td><td>${htmlText(about)}</td></tr>`,
  );
  return frame("Problems", `<h1>Problems</h1>\n<table>\n${rows.join("\n")}\n</table>`);
}

function frame(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${htmlText(title)} · Kibitz</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
td { padding: .2rem 1rem .2rem 0; vertical-align: top }
dt { float: left; clear: left; width: 8rem }
</style>
${content}
</html>
`;
}

function htmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
