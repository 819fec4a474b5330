import { NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { SearchIcon } from '../shell/icons';
import { CHANNEL_NAMES } from '../words';
import { CHANNELS, readSearch, type View } from './search';

const VIEW_NAMES: Readonly<Record<View, string>> = {
  all: 'All',
  owed: 'Owed',
  'needs-person': 'Needs a person',
};

interface FiltersProps {
  readonly counts: { readonly owed: number; readonly needsPerson: number } | undefined;
}

/** The views, a channel and a search; all of them stand in the address. */
export function Filters({ counts }: FiltersProps) {
  return (
    <div className="filters">
      <nav aria-label="Views" className="views">
        <ViewLink view="all" />
        <ViewLink view="owed" count={counts?.owed} />
        <ViewLink view="needs-person" count={counts?.needsPerson} />
      </nav>
      <div className="filter-fields">
        <Search />
        <ChannelSelect />
      </div>
    </div>
  );
}

function ViewLink({ view, count }: { readonly view: View; readonly count?: number | undefined }) {
  const search = useSearch({ from: '/inbox' });
  const isCurrent = (search.view ?? 'all') === view;
  return (
    <Link
      to="."
      search={({ view: _replaced, ...rest }) => (view === 'all' ? rest : { ...rest, view })}
      className="view"
      aria-current={isCurrent ? 'true' : undefined}
    >
      {VIEW_NAMES[view]}
      {count !== undefined && count > 0 && <span className="count">{count}</span>}
    </Link>
  );
}

function Search() {
  const { q = '' } = useSearch({ from: '/inbox' });
  const navigate = useNavigate();
  const [text, setText] = useState(q);
  useEffect(() => {
    setText(q);
  }, [q]);
  const look = useDebouncedCallback((wanted: string) => {
    void navigate({
      to: '.',
      replace: true,
      search: (previous) => readSearch({ ...previous, q: wanted.trim() }),
    });
  }, 250);
  return (
    <TextInput
      type="search"
      size="sm"
      aria-label="Search by name or number"
      placeholder="Name or number"
      leftSection={<SearchIcon />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        look(event.currentTarget.value);
      }}
    />
  );
}

function ChannelSelect() {
  const { channel } = useSearch({ from: '/inbox' });
  const navigate = useNavigate();
  return (
    <NativeSelect
      size="sm"
      aria-label="Channel"
      value={channel ?? ''}
      data={[
        { value: '', label: 'All channels' },
        ...CHANNELS.map((value) => ({ value, label: CHANNEL_NAMES[value] })),
      ]}
      onChange={(event) => {
        const wanted = event.currentTarget.value;
        void navigate({
          to: '.',
          search: (previous) => readSearch({ ...previous, channel: wanted }),
        });
      }}
    />
  );
}
