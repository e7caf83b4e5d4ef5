import { useState } from "preact/hooks";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { serviceUrl } from "../client/client.ts";
import type { Exchange } from "../client/exchange.ts";
import { problemOf } from "../client/problem.ts";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { store, stored } from "../parts/stored.ts";
import { Code } from "./code.tsx";
import { JsonView } from "./json-view.tsx";
import { KeyField } from "./key-field.tsx";
import { LimitsView } from "./limits-view.tsx";
import { jsonText } from "./quote.ts";
import { shownCall, shownMessage } from "./shown-call.ts";
import "./api-panel.css";

const states = { open: "under way", done: "answered", aborted: "stopped", failed: "failed" };

/** The key in the browser's storage. A value is stored while the panel is open. */
const place = "kibitz-api-panel";

export function ApiPanel() {
  const [isOpen, setIsOpen] = useState(() => stored("localStorage", place) !== undefined);
  const exchange = usePage().client.lastExchange.value;
  return (
    <aside class="api-panel panel" aria-labelledby="api-title">
      <details
        open={isOpen}
        onToggle={({ currentTarget: { open } }) => {
          setIsOpen(open);
          store("localStorage", place, open ? "open" : undefined);
        }}
      >
        <summary>
          <h2 id="api-title">API call</h2>
        </summary>
        <div class="api-parts">
          <div class="stack">{isOpen && <LatestCall exchange={exchange} />}</div>
          <div class="stack">
            <KeyField />
            {exchange?.headers && <LimitsView headers={exchange.headers} />}
          </div>
        </div>
      </details>
    </aside>
  );
}

function LatestCall({ exchange }: { readonly exchange: Exchange | undefined }) {
  if (exchange === undefined) {
    return <p class="quiet-text">Every action on this page as code you can copy.</p>;
  }
  const call = shownCall(exchange, serviceUrl());
  const { method, state, totalMs, headers } = exchange;
  const requestId = headers?.get("X-Request-Id");
  return (
    <>
      <ul class="row quiet-text figures">
        <li>
          <b>{method.name}</b> <span>{states[state]}</span>
        </li>
        {totalMs !== undefined && (
          <li>{totalMs < 1000 ? `${Math.round(totalMs)} ms` : `${(totalMs / 1000).toFixed(1)} s`}</li>
        )}
        {requestId && (
          <li>
            Request <code>{requestId}</code>
          </li>
        )}
      </ul>
      {call && <Code call={call} />}
      <Answer exchange={exchange} />
    </>
  );
}

function Answer({ exchange: { method, answer, error } }: { readonly exchange: Exchange }) {
  const problem = error === undefined ? undefined : problemOf(error);
  const plain = problem
    ? shownMessage(ProblemSchema, problem)
    : answer && shownMessage(method.output, answer);
  return plain === undefined ? null : (
    <div>
      <h3>Answer</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys must reach an area that scrolls. */}
      <section class="code-scroll" tabIndex={0} aria-label="Answer">
        <JsonView value={plain} />
      </section>
      <CopyButton label="Copy the answer" text={() => jsonText(plain)} />
    </div>
  );
}
