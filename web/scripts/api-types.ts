/**
 * Writes the console's types from the API's OpenAPI document: an alias per schema, and per
 * operation what goes in and comes out. It knows the few forms that our schemas use and refuses
 * any other, so that nothing is typed wrongly in silence.
 */
type Fields = Readonly<Record<string, unknown>>;

const HEAD = `/** Made from docs/openapi.json by web/scripts/api-types.ts; do not edit. */
`;

/** The TypeScript of the document's schemas and operations. Throws on a form that it does not know. */
export function apiTypes(document: unknown): string {
  const schemas = fieldsOf(fieldsOf(fieldsOf(document)['components'])['schemas']);
  const aliases = Object.entries(schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const operations = Object.entries(fieldsOf(fieldsOf(document)['paths'])).flatMap(([path, item]) =>
    Object.entries(fieldsOf(item)).map(([method, operation]) =>
      operationOf(method, path, operation),
    ),
  );
  return `${HEAD}${aliases.join('\n\n')}

export interface Operations {
${operations.join('\n')}
}
`;
}

function operationOf(method: string, path: string, operation: unknown): string {
  const { parameters, requestBody, responses } = fieldsOf(operation);
  const query = listOf(parameters)
    .map(fieldsOf)
    .filter((parameter) => parameter['in'] === 'query')
    .map((parameter) => `${String(parameter['name'])}?: ${typeOf(parameter['schema'])};`);
  const answer = typeOf(schemaOf(fieldsOf(responses)['200']));
  const body = requestBody === undefined ? 'undefined' : typeOf(schemaOf(requestBody));
  return `  '${method.toUpperCase()} ${path}': {
    query: {${query.length === 0 ? '' : ` ${query.join(' ')} `}};
    body: ${body};
    answer: ${answer};
  };`;
}

function schemaOf(holder: unknown): unknown {
  const [content] = Object.values(fieldsOf(fieldsOf(holder)['content']));
  return fieldsOf(content)['schema'];
}

function typeOf(value: unknown): string {
  const schema = fieldsOf(value);
  const reference = schema['$ref'];
  if (typeof reference === 'string') return reference.slice(reference.lastIndexOf('/') + 1);
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    const options = listOf(schema[key]).filter(
      (option) => Object.keys(fieldsOf(option)).length > 0,
    );
    const types = options.filter(isType).map(typeOf);
    if (types.length > 0) return [...new Set(types)].join(key === 'allOf' ? ' & ' : ' | ');
  }
  const values = listOf(schema['enum']);
  if (values.length > 0) return values.map((item) => literal(item)).join(' | ');
  const types = [schema['type']].flat();
  return types.map((type) => simpleType(type, schema)).join(' | ');
}

/** Beside a reference may stand a part that only describes. */
function isType(value: unknown): boolean {
  const { description: _description, ...rest } = fieldsOf(value);
  return Object.keys(rest).length > 0;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function simpleType(type: unknown, schema: Fields): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `(${typeOf(schema['items'])})[]`;
    case 'object':
      return objectType(schema);
    default:
      throw new Error(`api-types does not know ${JSON.stringify(schema)}`);
  }
}

function objectType(schema: Fields): string {
  const required = listOf(schema['required']);
  const members = Object.entries(fieldsOf(schema['properties'])).map(
    ([name, value]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(value)};`,
  );
  return `{ ${members.join(' ')} }`;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
