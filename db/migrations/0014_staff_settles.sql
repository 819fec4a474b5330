-- A person who confirms that an unknown answer arrived plans the follow-ups behind it, as the
-- recorded acceptance would have done.
GRANT INSERT ON follow_up_plans, follow_up_steps TO unsilent_staff;
