package ferro.recorder;

import ferro.FerroException.Code;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Records operations as events of the JDK Flight Recorder (JFR). No other class of this package uses the module
 * jdk.jfr, which a small runtime may lack. Without a JFR recording, nothing is allocated and JFR is not initialised.
 */
final class CollectiveTrace {
    private static final boolean PRESENT = isPresent();

    private CollectiveTrace() {}

    /**
     * Begins the event of an operation that begins now. Returns the first argument of {@link #end}, or null if there is
     * no JFR recording.
     */
    static Object begin() {
        return PRESENT && jdk.jfr.FlightRecorder.isInitialized() ? CollectiveEvent.begun() : null;
    }

    /** Ends the event. The code of the failure is null if the operation has not failed. */
    static void end(Object begun, GroupRecorder group, long sequence, String text, long bytes, Code code) {
        CollectiveEvent event = (CollectiveEvent) begun;
        event.group = group.name();
        event.rank = group.rank();
        event.sequence = sequence;
        event.operation = JsonText.firstWord(text);
        event.description = text;
        event.bytes = bytes;
        event.code = code == null ? "" : code.name();
        event.commit();
    }

    private static boolean isPresent() {
        try {
            Class.forName("jdk.jfr.Event", false, CollectiveTrace.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /** The JFR event of one operation, from its submit to its end. */
    @Name("ferro.Collective")
    @Label("Collective")
    @Category("ferro")
    @Description("An operation of a group on one rank, from its submit to its end")
    @StackTrace(false)
    static final class CollectiveEvent extends Event {
        private static final EventType TYPE = EventType.getEventType(CollectiveEvent.class);

        @Label("Group")
        String group;

        @Label("Rank")
        int rank;

        @Label("Sequence")
        @Description("number of the operation in its group, -1 for a send or a receive")
        long sequence;

        @Label("Operation")
        String operation;

        @Label("Description")
        String description;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Code")
        @Description("code of the failure; empty if the operation did not fail")
        String code;

        private static Object begun() {
            if (!TYPE.isEnabled()) {
                return null;
            }
            CollectiveEvent event = new CollectiveEvent();
            event.begin();
            return event;
        }
    }
}
