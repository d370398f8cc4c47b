package ferro.spark.rendezvous;

/** The keys of the store under which ranks report to the driver. No group that a rank joins has a name like these. */
final class ReportKeys {
    static final String FAILURE = "@spark/failure/";
    static final String PROGRESS = "@spark/progress/";
    static final String SENT = "@spark/sent";
    static final String GPU = "@spark/gpu/";

    private ReportKeys() {}
}
