import { withoutControls } from "../../text/controls.ts";
import { durationText } from "../../text/duration-text.ts";
import { now } from "../../time/time.ts";
import type { Output } from "../host.ts";
import { createStatusLine } from "../progress.ts";

/** Shows a line that changes on a terminal, and elsewhere a new line for each quarter. */
export function createLoadProgress(source: string, stream: Output) {
  const { show, clear } = createStatusLine(stream);
  let shown = "";
  const showNew = (text: string) => {
    if (text !== shown) {
      shown = text;
      show(text);
    }
  };
  const startedAt = now();
  let quarters = 0;
  stream.write(`Loading ${withoutControls(source)}\n`);
  return {
    step(bytes: number, total: number | undefined) {
      if (total === undefined) {
        showNew(`${megabytes(bytes)} MB`);
        return;
      }
      const leftS = ((now() - startedAt) / bytes) * (total - bytes) * 1e-3;
      const text = `${megabytes(bytes)} of ${megabytes(total)} MB`;
      showNew(`${text}, ${durationText(leftS)} left`);
      const reached = Math.floor((bytes / total) * 4);
      if (reached > quarters) {
        quarters = reached;
        if (!stream.isTTY) {
          stream.write(`${text}\n`);
        }
      }
    },
    clear,
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 10e6 ? 1 : 0);
}
