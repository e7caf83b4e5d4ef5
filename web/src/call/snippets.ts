import { goRawJson, jsonText, pythonText, shellWord } from "./quote.ts";
import type { ShownCall } from "./shown-call.ts";

interface Snippet {
  readonly name: string;
  /** Only shell commands contain the key. Programs read the key from an environment variable. */
  write(call: ShownCall, key: string): string;
  needs(call: ShownCall): string;
}

export const snippets = {
  curl: { name: "curl", write: curl, needs: () => "bash, zsh, sh (not cmd or PowerShell)." },
  typescript: {
    name: "TypeScript",
    write: typescript,
    needs: needsKey("Save it as call.mts and run “node call.mts”: Node 22.18 or newer, no packages."),
  },
  python: {
    name: "Python",
    write: python,
    needs: needsKey("Save it as call.py and run “python3 call.py”: no packages."),
  },
  go: {
    name: "Go",
    write: go,
    needs: needsKey("Save it as call.go and run “go run call.go”: no modules."),
  },
  grpcurl: {
    name: "grpcurl",
    write: grpcurl,
    needs: ({ prefix }) =>
      `Needs github.com/fullstorydev/grpcurl and no proto files: the service describes itself.${
        prefix && ` gRPC knows no paths such as ${prefix}: name the host and port of the service itself.`
      }`,
  },
} satisfies Readonly<Record<string, Snippet>>;

export type Language = keyof typeof snippets;

function needsKey(words: string): Snippet["needs"] {
  return ({ withKey }) =>
    withKey ? `${words} Set the environment variable KIBITZ_API_KEY to your key first.` : words;
}

/** Returns the headers of the call, except `Authorization`. */
function headersOf({ events }: ShownCall, write: (name: string, value: string) => string): readonly string[] {
  return [
    write("Content-Type", "application/json"),
    ...(events ? [write("Accept", "text/event-stream")] : []),
  ];
}

function curl(call: ShownCall, key: string): string {
  const { url, body, events, withKey } = call;
  const words = [
    `curl ${events ? "-N " : ""}${shellWord(url)}`,
    ...headersOf(call, (name, value) => `-H '${name}: ${value}'`),
    `-d ${shellWord(jsonText(body, "  "))}`,
  ];
  return shellCommand(words, withKey, key);
}

function grpcurl({ host, tls, procedure, message, withKey }: ShownCall, key: string): string {
  const words = [
    `grpcurl${tls ? "" : " -plaintext"}`,
    `-d ${shellWord(jsonText(message, "  "))}`,
    `${shellWord(host)} ${procedure}`,
  ];
  return shellCommand(words, withKey, key);
}

/** Inserts the `Authorization` header after the first part of the command. */
function shellCommand([first = "", ...words]: readonly string[], withKey: boolean, key: string): string {
  const header = withKey ? [`-H "Authorization: Bearer $KIBITZ_API_KEY"`] : [];
  const command = [first, ...header, ...words].join(" \\\n  ");
  return withKey ? `export KIBITZ_API_KEY=${key}\n${command}` : command;
}

function typescript(call: ShownCall): string {
  const headers = [
    ...headersOf(call, (name, value) => `"${name}": "${value}",`),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The placeholder is part of the shown code.
    ...(call.withKey ? ['"Authorization": `Bearer ${process.env.KIBITZ_API_KEY}`,'] : []),
  ];
  const print = call.events
    ? "for await (const text of answer.body.pipeThrough(new TextDecoderStream())) process.stdout.write(text);"
    : "console.log(JSON.stringify(await answer.json(), null, 2));";
  return `const answer = await fetch(${JSON.stringify(call.url)}, {
  method: "POST",
  headers: {
    ${headers.join("\n    ")}
  },
  body: JSON.stringify(${jsonText(call.body, "  ")}),
});
if (!answer.ok || !answer.body) throw new Error(await answer.text());
${print}
`;
}

function python(call: ShownCall): string {
  const headers = [
    ...headersOf(call, (name, value) => `"${name}": "${value}",`),
    ...(call.withKey ? [`"Authorization": "Bearer " + os.environ["KIBITZ_API_KEY"],`] : []),
  ];
  const print = call.events
    ? `for line in answer:
            print(line.decode(), end="", flush=True)`
    : "print(json.dumps(json.load(answer), indent=2))";
  return `import json
${call.withKey ? "import os\n" : ""}import sys
import urllib.error
import urllib.request

request = urllib.request.Request(
    ${JSON.stringify(call.url)},
    data=json.dumps(${pythonText(call.body, "    ")}).encode(),
    headers={
        ${headers.join("\n        ")}
    },
)
try:
    with urllib.request.urlopen(request) as answer:
        ${print}
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
`;
}

function go(call: ShownCall): string {
  const headers = [
    ...headersOf(call, (name, value) => `request.Header.Set("${name}", "${value}")`),
    ...(call.withKey ? [`request.Header.Set("Authorization", "Bearer "+os.Getenv("KIBITZ_API_KEY"))`] : []),
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
	body := strings.NewReader(${goRawJson(jsonText(call.body, "\t"))})
	request, err := http.NewRequest("POST", ${JSON.stringify(call.url)}, body)
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
