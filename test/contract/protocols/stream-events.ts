interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Parses server-sent events. Each line must have one field, and a blank line must end each event. */
export async function* eventsFrom(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let rest = "";
  let event = "message";
  let data: string[] = [];
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, field, value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      if (line === "") {
        if (data.length > 0) {
          yield { event, data: data.join("\n") };
        }
        event = "message";
        data = [];
      } else if (field === "event") {
        event = value;
      } else if (field === "data") {
        data.push(value);
      }
    }
  }
}
