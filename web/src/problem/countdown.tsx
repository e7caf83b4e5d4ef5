import { useEffect, useState } from "preact/hooks";
import type { Wait } from "../client/keep-asking.ts";
import { failureOf } from "../client/problem.ts";
import { duration } from "./problem-words.ts";

interface CountdownProps {
  readonly wait: Wait;
  readonly onCancel?: (() => void) | undefined;
}

export function Countdown({ wait, onCancel }: CountdownProps) {
  const [leftMs, setLeftMs] = useState(0);
  useEffect(() => {
    const update = () => setLeftMs(Math.max(0, wait.endsAt - performance.now()));
    update();
    const timer = setInterval(update, 250);
    return () => clearInterval(timer);
  }, [wait]);
  return (
    <div class="row">
      <p class="figures" role="timer">
        Goes on in {duration(leftMs)}
      </p>
      {failureOf(wait.error).kind === "lost" && (
        <button type="button" onClick={wait.retry}>
          Try again
        </button>
      )}
      {onCancel && (
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      )}
    </div>
  );
}
