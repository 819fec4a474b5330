import { Badge, Table, Text, VisuallyHidden } from '@mantine/core';
import type { AuditCheck } from '../generated/api';
import { ageWords, useNowMs } from '../time';

/** Every check in a table, the broken ones first. */
export function CheckTable({ items }: { readonly items: readonly AuditCheck[] }) {
  const nowMs = useNowMs();
  return (
    <Table className="audit-table" data-testid="audit-table" verticalSpacing="xs">
      <Table.Caption>
        <VisuallyHidden>Checks, the broken ones first</VisuallyHidden>
      </Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">Name</Table.Th>
          <Table.Th scope="col">What must hold</Table.Th>
          <Table.Th scope="col">Result</Table.Th>
          <Table.Th scope="col">Looked at</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <CheckRow key={item.says} item={item} nowMs={nowMs} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function CheckRow({ item, nowMs }: { readonly item: AuditCheck; readonly nowMs: number }) {
  const { invariant, says, violations, checkedAt, fullyCheckedAt, rows } = item;
  const age = (at: string): string => `${ageWords(nowMs - Date.parse(at))} ago`;
  return (
    <Table.Tr data-broken={violations > 0 || undefined} data-testid="audit-check">
      <Table.Td className="audit-name">{invariant}</Table.Td>
      <Table.Td>
        <Text size="sm" fw={violations > 0 ? 600 : 400}>
          {sentence(says)}
        </Text>
        {violations > 0 && <Rows rows={rows} violations={violations} />}
      </Table.Td>
      <Table.Td>
        <Badge color={violations > 0 ? 'red' : 'green'} variant="light">
          {violations > 0 ? `Broken by ${violations}` : 'Holds'}
        </Badge>
      </Table.Td>
      <Table.Td className="audit-age">
        {age(checkedAt)}
        <br />
        {fullyCheckedAt === null ? 'not yet over everything' : `all: ${age(fullyCheckedAt)}`}
      </Table.Td>
    </Table.Tr>
  );
}

function Rows({ rows, violations }: Pick<AuditCheck, 'rows' | 'violations'>) {
  if (rows.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        None of the rows is of your business.
      </Text>
    );
  }
  return (
    <>
      <ul className="audit-rows" aria-label="Rows of your business">
        {rows.map((row) => (
          <li key={row}>
            <code>{row}</code>
          </li>
        ))}
      </ul>
      {violations > rows.length && (
        <Text size="xs" c="dimmed">
          {violations - rows.length} more are not shown, or not of your business.
        </Text>
      )}
    </>
  );
}

/** The sentence of a check with a capital letter and a full stop. */
function sentence(says: string): string {
  return `${says.charAt(0).toUpperCase()}${says.slice(1)}.`;
}
