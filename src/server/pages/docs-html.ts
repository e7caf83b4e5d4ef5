/** The page that shows the OpenAPI document. It loads nothing but files of this server. */
export const docsHtml = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Kibitz API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<noscript>This page needs JavaScript. The document that it shows is <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="api"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;

/** Starts the viewer. A file of its own, because the page allows no script inside it. */
export const docsScript = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#api",
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  // Else the viewer asks a server of its makers whether the document is valid.
  validatorUrl: null,
});
`;

/** The stylesheet has its icons inside it, as data. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");
