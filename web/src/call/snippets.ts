import { texts } from "../texts.ts";
import { goRawJson, jsonText, pythonText, shellWord } from "./quote.ts";
import type { ShownCall } from "./shown-call.ts";

/** The call in a language, complete: it runs as it is. */
export interface Snippet {
  readonly name: string;
  /** @param key the shells export it; the other languages take it from the environment. */
  write(call: ShownCall, key: string): string;
  /** Names the programs that the snippet needs. */
  needs(call: ShownCall): string;
}

const { needs } = texts.call;

export const snippets = {
  curl: { name: "curl", write: curl, needs: () => needs.curl },
  typescript: { name: "TypeScript", write: typescript, needs: (call) => needs.typescript + needsKey(call) },
  python: { name: "Python", write: python, needs: (call) => needs.python + needsKey(call) },
  go: { name: "Go", write: go, needs: (call) => needs.go + needsKey(call) },
  grpcurl: {
    name: "grpcurl",
    write: grpcurl,
    needs: ({ prefix }) => (prefix === "" ? needs.grpcurl : `${needs.grpcurl} ${needs.noPath(prefix)}`),
  },
} satisfies Readonly<Record<string, Snippet>>;

export type Language = keyof typeof snippets;

function needsKey({ withKey }: ShownCall): string {
  return withKey ? ` ${needs.key}` : "";
}

const eventStream = "text/event-stream";

function exportKey({ withKey }: ShownCall, key: string): string {
  return withKey ? `export KIBITZ_API_KEY=${key}\n` : "";
}

function curl(call: ShownCall, key: string): string {
  const { url, body, events, withKey } = call;
  const command = [
    `curl ${events ? "-N " : ""}${shellWord(url)}`,
    `-H 'Content-Type: application/json'`,
    ...(events ? [`-H 'Accept: ${eventStream}'`] : []),
    ...(withKey ? [`-H "Authorization: Bearer $KIBITZ_API_KEY"`] : []),
    `-d ${shellWord(jsonText(body, "  "))}`,
  ].join(" \\\n  ");
  return exportKey(call, key) + command;
}

function grpcurl(call: ShownCall, key: string): string {
  const { host, tls, procedure, message, withKey } = call;
  const command = [
    `grpcurl${tls ? "" : " -plaintext"}`,
    ...(withKey ? [`-H "Authorization: Bearer $KIBITZ_API_KEY"`] : []),
    `-d ${shellWord(jsonText(message, "  "))}`,
    `${shellWord(host)} ${procedure}`,
  ].join(" \\\n  ");
  return exportKey(call, key) + command;
}

function typescript({ url, body, events, withKey }: ShownCall): string {
  const headers = [
    `"Content-Type": "application/json",`,
    ...(events ? [`Accept: "${eventStream}",`] : []),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one of the code shown.
    ...(withKey ? ["Authorization: `Bearer ${process.env.KIBITZ_API_KEY}`,"] : []),
  ];
  return `const answer = await fetch(${JSON.stringify(url)}, {
  method: "POST",
  headers: {
    ${headers.join("\n    ")}
  },
  body: JSON.stringify(${jsonText(body, "  ")}),
});
if (!answer.ok || !answer.body) throw new Error(await answer.text());
${events ? readEventsInTypescript : "console.log(JSON.stringify(await answer.json(), null, 2));"}
`;
}

const readEventsInTypescript = `let event = "";
let rest = "";
for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    if (line.startsWith("event: ")) event = line.slice(7);
    if (line.startsWith("data: ")) console.log(event, JSON.stringify(JSON.parse(line.slice(6))));
  }
}`;

function python({ url, body, events, withKey }: ShownCall): string {
  const headers = [
    `"Content-Type": "application/json",`,
    ...(events ? [`"Accept": "${eventStream}",`] : []),
    ...(withKey ? [`"Authorization": "Bearer " + os.environ["KIBITZ_API_KEY"],`] : []),
  ];
  return `import json
${withKey ? "import os\n" : ""}import sys
import urllib.error
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    data=json.dumps(${pythonText(body, "    ")}).encode(),
    headers={
        ${headers.join("\n        ")}
    },
)
try:
    with urllib.request.urlopen(request) as answer:
${events ? readEventsInPython : "        print(json.dumps(json.load(answer), indent=2))"}
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
`;
}

const readEventsInPython = `        event = ""
        for line in answer:
            field, _, value = line.decode().rstrip("\\n").partition(": ")
            if field == "event":
                event = value
            elif field == "data":
                print(event, json.dumps(json.loads(value)), flush=True)`;

function go({ url, body, events, withKey }: ShownCall): string {
  const headers = [
    `request.Header.Set("Content-Type", "application/json")`,
    ...(events ? [`request.Header.Set("Accept", "${eventStream}")`] : []),
    ...(withKey ? [`request.Header.Set("Authorization", "Bearer "+os.Getenv("KIBITZ_API_KEY"))`] : []),
  ];
  return `package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(${goRawJson(jsonText(body, "\t"))})
	request, err := http.NewRequest("POST", ${JSON.stringify(url)}, body)
	if err != nil {
		log.Fatal(err)
	}
	${headers.join("\n\t")}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		log.Fatal(answer.Status)
	}
}
`;
}
