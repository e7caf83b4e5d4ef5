import { useEffect, useRef, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import { duration } from "./tell-problem.ts";

interface CountdownProps {
  /** How long to wait. */
  readonly ms: number;
  onEnd(): void;
  onStop(): void;
}

/** Waits, shows how long it still takes, and says when it is over. */
export function Countdown({ ms, onEnd, onStop }: CountdownProps) {
  const [leftMs, setLeftMs] = useState(ms);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    const endsAt = performance.now() + ms;
    setLeftMs(ms);
    const timer = setInterval(() => {
      const left = endsAt - performance.now();
      setLeftMs(Math.max(0, left));
      if (left <= 0) {
        clearInterval(timer);
        end.current();
      }
    }, 200);
    return () => clearInterval(timer);
  }, [ms]);
  return (
    <>
      <p class="problem-wait" role="timer">
        {texts.problem.asksAgainIn(duration(leftMs))}
      </p>
      <button type="button" onClick={onStop}>
        {texts.problem.stopWaiting}
      </button>
    </>
  );
}
