package ferro.control.group;

/**
 * What a part needs that judges a failure by what the ranks say a little later.
 *
 * @param inquiry   asks the ranks
 * @param failure   of the group, if the judgement is one
 * @param timers    run the judgement
 * @param responder makes the answer of this rank
 * @param wake      wakes the thread of this rank that waits, so that the thread checks again what it waits for
 */
record FailureTools(
        StatusInquiry inquiry, AgreedFailure failure, Timers timers, StatusResponder responder, Runnable wake) {}
