package ferro.control.group;

/**
 * The objects with which a class judges a failure after the answers of other ranks have arrived.
 *
 * @param inquiry   questions to the other ranks
 * @param failure   failure of the group, which a judgement may set
 * @param timers    timers that run the judgement
 * @param responder answers of this rank
 * @param wake      task that wakes the waiting thread of this rank, so that the thread checks again whether it must
 *     wait
 */
record FailureContext(
        StatusInquiry inquiry, AgreedFailure failure, Timers timers, StatusResponder responder, Runnable wake) {}
