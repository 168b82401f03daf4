-- The days of a few customers, whatever their projects: charts of the dearest ones read these instead of all customers' days.
CREATE INDEX customer_spend_customer ON customer_spend (customer_id, date);
