package ferro.spark.meeting;

/** Keys of the store under which ranks write to the driver; no group that a rank joins has this name. */
final class ReportKeys {
    static final String FAILURE = "@spark/failure/";
    static final String PROGRESS = "@spark/progress/";
    static final String SENT = "@spark/sent";
    static final String GPU = "@spark/gpu/";

    private ReportKeys() {}
}
