import type { Host } from "./host.ts";

/** Not SIGHUP, which stops the service, as it does when the terminal closes. Not SIGUSR1, which starts Node's debugger. */
const reloadSignal = "SIGUSR2";

export interface ReloadSignal extends Disposable {
  /** Calls `run` at each signal from now on, and now if a signal has arrived since the last run has begun. `run` must not reject. */
  call(run: () => Promise<void>): void;
}

/** Without a handler, the signal would end the process. One run follows another, and signals during a run lead to one more run. */
export function onReloadSignal(host: Pick<Host, "on" | "off">): ReloadSignal {
  let isWanted = false;
  let isRunning = false;
  let run: (() => Promise<void>) | undefined;

  async function next(): Promise<void> {
    while (isWanted && run && !isRunning) {
      isWanted = false;
      isRunning = true;
      try {
        await run();
      } finally {
        isRunning = false;
      }
    }
  }
  const handle = () => {
    isWanted = true;
    void next();
  };
  host.on(reloadSignal, handle);
  return {
    call(given) {
      run = given;
      void next();
    },
    [Symbol.dispose]: () => void host.off(reloadSignal, handle),
  };
}
