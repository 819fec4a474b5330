/** Lint rules of this repository that no package offers. */

const FRAMES = new Set(['describe', 'describe.each', 'describe.skip', 'describe.only']);
const MAX_LINES = 70;

function calleeName(node) {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'MemberExpression') {
    return `${calleeName(node.object)}.${calleeName(node.property)}`;
  }
  if (node.type === 'CallExpression') return calleeName(node.callee);
  if (node.type === 'TaggedTemplateExpression') return calleeName(node.tag);
  return '';
}

function isFrame(node) {
  const parent = node.parent;
  return (
    parent?.type === 'CallExpression' && FRAMES.has(calleeName(parent.callee).replace('.skip', ''))
  );
}

/** Tests: `max-lines-per-function`, but a `describe` callback is a heading, not a function. */
const maxLinesPerTest = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { long: '{{lines}} lines; {{max}} is the limit.' },
  },
  create(context) {
    function check(node) {
      const lines = node.loc.end.line - node.loc.start.line + 1;
      if (lines > MAX_LINES && !isFrame(node)) {
        context.report({ node, messageId: 'long', data: { lines, max: MAX_LINES } });
      }
    }
    return {
      FunctionDeclaration: check,
      FunctionExpression: check,
      ArrowFunctionExpression: check,
    };
  },
};

/** Exported functions carry a docstring: the sentence that says what a caller may rely on. */
const documentedExports = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { missing: 'Exported function {{name}} has no docstring.' },
  },
  create(context) {
    const documented = (node) =>
      context.sourceCode
        .getCommentsBefore(node)
        .some((comment) => comment.type === 'Block' && comment.value.startsWith('*'));
    const report = (node, name) => context.report({ node, messageId: 'missing', data: { name } });
    return {
      ExportNamedDeclaration(node) {
        const declared = node.declaration;
        if (declared?.type === 'FunctionDeclaration' && !documented(node)) {
          report(node, declared.id.name);
        }
        if (declared?.type !== 'VariableDeclaration' || documented(node)) return;
        const [first] = declared.declarations;
        if (/Function/.test(first?.init?.type ?? '')) report(node, first.id.name);
      },
    };
  },
};

export const unsilentRules = {
  rules: { 'max-lines-per-test': maxLinesPerTest, 'documented-exports': documentedExports },
};
