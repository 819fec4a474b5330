/**
 * SQL for a lead's addresses on the channel of a send, the oldest first. It stands in the gate and
 * in the read-back, so that both speak of the same person's addresses: a Messenger id counts only on
 * its own page. Expects the aliases `o` (outbox), `c` (conversations) and `a` (accounts).
 */
export const REACHABLE_ADDRESSES = `
  (select jsonb_agg(jsonb_build_object('kind', x.kind, 'value', x.value) order by x.created_at)
   from addresses x where x.lead_id = c.lead_id and case o.channel
     when 'whatsapp' then x.kind in ('phone', 'whatsapp-user')
     when 'sms' then x.kind = 'phone'
     else x.kind = o.channel and split_part(x.value, '/', 1) = a.external_id end)`;
