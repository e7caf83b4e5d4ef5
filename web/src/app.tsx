import { useEffect } from "preact/hooks";
import { Analysis } from "./analysis/analysis.tsx";
import { SetUpPanel } from "./analysis/set-up-panel.tsx";
import { ApiPanel } from "./call/api-panel.tsx";
import { NewKey } from "./call/key-field.tsx";
import { Display, showDisplay } from "./moves/display.tsx";
import { Help, showHelp } from "./moves/help.tsx";
import { listenToKeys } from "./moves/keys.ts";
import { StepButton } from "./moves/steps.tsx";
import { usePage } from "./page.ts";
import { ColoursSwitch } from "./parts/colours.tsx";
import { LiveRegion } from "./parts/live-region.tsx";
import { Review } from "./review/review.tsx";
import { addressOfView } from "./view.ts";

const views = [
  ["analysis", "Analysis"],
  ["review", "Game review"],
] as const;

export function App() {
  const page = usePage();
  const view = page.address.view.value;
  useEffect(() => listenToKeys(page), [page]);
  return (
    <div class="shell">
      <header class="shell-header row">
        <button type="button" class="skip heard-only" onClick={() => document.querySelector("main")?.focus()}>
          Skip to the content
        </button>
        <h1 class="shell-name">Kibitz</h1>
        <p class="shell-about quiet-text">Chess analysis by Stockfish</p>
        <nav class="shell-views row" aria-label="Views">
          {views.map(([name, title]) => (
            <a
              key={name}
              href={addressOfView(name)}
              {...((view === "review" ? "review" : "analysis") === name && {
                "aria-current": "page" as const,
              })}
            >
              {title}
            </a>
          ))}
          <a href="docs">API reference</a>
        </nav>
        <div class="shell-tools">
          {view !== "set-up" && (
            <>
              <StepButton label="Display" icon="display" onStep={showDisplay} />
              <StepButton label="Keys" icon="help" onStep={showHelp} />
              <Display />
              <Help />
            </>
          )}
          <ColoursSwitch />
        </div>
      </header>
      <Notice />
      <main class="shell-main" tabIndex={-1}>
        <NewKey />
        {view === "analysis" && <Analysis />}
        {view === "set-up" && <SetUpPanel />}
        {view === "review" && <Review />}
      </main>
      <div class="shell-call">
        <ApiPanel />
      </div>
      <footer class="shell-footer row quiet-text">
        <a href="problems">Error codes</a>
        <a href="assets/licences.txt">Licences</a>
      </footer>
      <LiveRegion />
    </div>
  );
}

function Notice() {
  const { notice, isDragging, dismiss } = usePage().input;
  if (isDragging.value) {
    return (
      <p class="shell-drop" aria-hidden="true">
        Drop the file here: a game in PGN, or a position in FEN
      </p>
    );
  }
  return notice.value === undefined ? null : (
    <p class="shell-notice notice" role="alert">
      {notice.value}
      <button type="button" class="quiet" onClick={dismiss}>
        Close
      </button>
    </p>
  );
}
