package ferro.tck;

import ferro.HostTensor;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rule 608: no thread of a group outlives its close. */
public interface ThreadRules extends Subject {
    /** A group ends its threads, also those that run the stages and listeners of users, also after a failure. */
    @Rule(608)
    @Test
    default void noThreadOfAGroupOutlivesItsClose() {
        startThreadsOfDevices();
        ThreadsOfGroups threads = new ThreadsOfGroups();
        for (StagedCalls.LastCalls last : StagedCalls.LastCalls.values()) {
            try (Ranks ranks = group(StagedCalls.WORLD_SIZE)) {
                StagedCalls calls = new StagedCalls(this, threads);
                ranks.run(calls::makeAll);
                List<Throwable> outcomes = ranks.outcomes(Ranks.LIMIT, group -> calls.makeLast(group, last));
                Expect.well(outcomes);
            }
            threads.closed(last.toString());
        }
        // one wait for the threads of all these groups: threads may wait a little for more work before they end
        threads.checkAllEnd();
    }

    /** Uses each device once, so that the threads of its memory, which belongs to the test, live before there is a group. */
    private void startThreadsOfDevices() {
        for (int rank = 0; rank < StagedCalls.WORLD_SIZE; rank++) {
            try (OnDevice place = OnDevice.of(this, rank)) {
                place.tensor(HostTensor.of(new float[1]));
            }
        }
    }
}
