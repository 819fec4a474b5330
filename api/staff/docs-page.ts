import type { OpenApiDocument } from './openapi';

type Operations = [method: string, operation: unknown][];

/** The OpenAPI document as one browsable page. Everything in it is escaped. */
export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({
      path,
      method,
      operation: fieldsOf(operation),
    })),
  );
  const schemas = entriesOf(document.components?.schemas);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(document.info.title)}</title>
<link rel="stylesheet" href="/api/docs.css">
</head>
<body>
<header>
<h1>${escape(document.info.title)} <small>${escape(document.info.version)}</small></h1>
<p>${prose(document.info.description)}</p>
<p>The same as JSON: <a href="/api/openapi.json">/api/openapi.json</a></p>
</header>
<nav aria-label="Operations"><ul>
${operations.map(({ path, method }) => `<li><a href="#${anchor(method, path)}"><b>${escape(method)}</b> ${escape(path)}</a></li>`).join('\n')}
</ul></nav>
<main>
${operations.map(({ path, method, operation }) => operationSection(method, path, operation)).join('\n')}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => schemaSection(name, schema)).join('\n')}
</main>
</body>
</html>
`;
}

function operationSection(method: string, path: string, operation: Fields): string {
  const parameters = listOf(operation['parameters']).map((parameter) => {
    const fields = fieldsOf(parameter);
    const schema = fieldsOf(fields['schema']);
    const note = textOf(fields['description'] ?? schema['description']);
    return [textOf(fields['name']), textOf(fields['in']), typeName(schema), note];
  });
  const body = jsonSchemaOf(operation['requestBody']);
  const responses = entriesOf(operation['responses']).map(([status, response]) => [
    status,
    typeName(jsonSchemaOf(response)),
    textOf(fieldsOf(response)['description']),
  ]);
  return `<section id="${anchor(method, path)}">
<h2><b>${escape(method)}</b> ${escape(path)}</h2>
<p>${prose(operation['summary'])}</p>
${operation['description'] === undefined ? '' : `<p>${prose(operation['description'])}</p>`}
${parameters.length === 0 ? '' : table(['Parameter', 'In', 'Type', ''], parameters)}
${operation['requestBody'] === undefined ? '' : `<p>Body: ${linked(typeName(body))}</p>`}
${table(['Status', 'Body', ''], responses)}
</section>`;
}

function schemaSection(name: string, schema: unknown): string {
  const fields = fieldsOf(schema);
  const rows = entriesOf(fields['properties']).map(([property, value]) => [
    property,
    typeName(fieldsOf(value)),
    textOf(fieldsOf(value)['description']),
  ]);
  const note = textOf(fields['description']);
  return `<section id="schema-${escape(name)}">
<h3>${escape(name)}</h3>
${note === '' ? '' : `<p>${prose(note)}</p>`}
${rows.length === 0 ? `<p><code>${escape(typeName({ ...fields, $ref: undefined }))}</code></p>` : table(['Field', 'Type', ''], rows)}
</section>`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map(
    (row) => `<tr>${row.map((cell) => `<td>${linked(cell)}</td>`).join('')}</tr>`,
  );
  return `<table><thead><tr>${heads.map((head) => `<th scope="col">${escape(head)}</th>`).join('')}</tr></thead>
<tbody>${cells.join('\n')}</tbody></table>`;
}

/** A schema in a word or two: its name, or its type with what it holds. */
function typeName(schema: Fields): string {
  const reference = schema['$ref'];
  if (typeof reference === 'string') return reference.slice(reference.lastIndexOf('/') + 1);
  if (schema['enum'] !== undefined) return listOf(schema['enum']).map(textOf).join(' | ');
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    const options = listOf(schema[key]);
    if (options.length > 0) return options.map((option) => typeName(fieldsOf(option))).join(' | ');
  }
  if (schema['type'] === 'array') return `${typeName(fieldsOf(schema['items']))}[]`;
  const types = [schema['type']].flat().map(textOf);
  return types.filter((type) => type !== '').join(' | ');
}

function jsonSchemaOf(holder: unknown): Fields {
  const [content] = entriesOf(fieldsOf(holder)['content']);
  return fieldsOf(fieldsOf(content?.[1])['schema']);
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return Object.fromEntries(entriesOf(value));
}

function entriesOf(value: unknown): Operations {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function anchor(method: string, path: string): string {
  return escape(`${method}${path.replaceAll(/[^a-z]+/gi, '-')}`);
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Prose in which `words between backticks` are code. */
function prose(text: unknown): string {
  return escape(textOf(text)).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** A cell; the name of one of our schemas links to its section. */
function linked(text: string): string {
  return prose(text).replaceAll(
    /\b(?:[A-Z][a-z]+){1,3}\b(?=\[\]|$| \|)/g,
    (name) => `<a href="#schema-${name}">${name}</a>`,
  );
}

export const DOCS_STYLE = `:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
h1 small { font-weight: 400; opacity: .7; font-size: 1rem; }
h2 { border-top: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding-top: 1.5rem; }
h2 b, nav b { text-transform: uppercase; font-size: .8em; padding: .1em .5em; border-radius: .3em; background: color-mix(in srgb, currentColor 12%, transparent); }
nav ul { list-style: none; padding: 0; }
table { border-collapse: collapse; width: 100%; margin: .75rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
`;
