export const LABELS = ['billing', 'delivery', 'returns', 'account', 'bug'] as const

/** In use today: every label with its rule. */
export const DETAILED = `You sort the mail of an online shop. Read the ticket of a customer and choose the one team that can solve it.

billing: money that was taken or not paid back, prices, invoices, gift cards, taxes.
delivery: where a parcel is, when it comes, where it goes, parts of an order that are missing from the box.
returns: the customer wants to send something back, exchange it, or has received something broken or wrong.
account: login, password, profile, personal data, security of the account.
bug: the shop's site or app does not do what it should, for a reason that is not the customer's.

Where two teams could help, choose the one that has to act first. Do not explain your choice, do not greet, do not
answer the ticket. Reply with the label alone, in lower case: billing, delivery, returns, account or bug.`

/** The candidate: the same in three lines, at a third of the tokens. */
export const CONCISE = `Which team of an online shop solves this ticket first?
billing (money), delivery (parcel), returns (exchange, broken, wrong), account (login, data), bug (site or app fails).
Reply with the label alone.`
