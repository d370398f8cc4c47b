package ferro.launcher.analyze;

import static ferro.launcher.Said.assertHas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.launcher.analyze.ProcessEnds.EndKind;
import ferro.launcher.analyze.ProcessEnds.ProcessEnd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Who is to blame, and what is said of them: each case has a name, what happened, and the verdict.
 *
 * <p>What happened is a job and steps: {@code in} a call {@code for} the ranks that it waits for, {@code fail} with a
 * code {@code by} culprits, the ranks that {@code wrote} a recording (else all), and how the launcher saw a process
 * end. Lines that begin with {@code >} are the verdict, and lines that begin with {@code ~} are in the report.
 */
class VerdictFormatterTest {
    private static final Pattern JOB = Pattern.compile("(\\d+) ranks(?: after (\\d+) calls)?");
    private static final Pattern CALL =
            Pattern.compile("([\\d ]+) in (?:([^ ]+)/)?(?:seq (\\d+) ?)?(.*?)(?: ?for ([\\d ]+))?");
    private static final Pattern FAILURE =
            Pattern.compile("([\\d ]+|all) (also )?fail (\\w+) by ([\\d ]+|none)(?: at (\\d+))?: (.*)");
    private static final Pattern END = Pattern.compile("([\\d ]+) (WELL|THREW|CODE|SIGNAL|HALTED|STOPPED) ?(.*)");

    private static final String CASES = """
            a rank that skips a call is to blame while the others still wait
            4 ranks after 16 calls | 0 1 2 in seq 17 for 3 | 12300 ms
            guilty 3
            > rank 3 is to blame: it never called allReduce seq 17 of group "tcp"; its last call was allReduce seq \
            16, 12.3 s earlier; it is in no call of ferro, but in its own code
            > ranks 0-2 wait in allReduce seq 17 of group "tcp" for rank 3
            ~ ranks 0-2: allReduce seq 17, running at step 3, waiting for rank 3
            ~ rank 3: allReduce seq 16, done; 1 call behind ranks 0-2

            calls are named with their labels
            4 ranks after 16 calls | 0 1 2 in seq 17 allReduce "dense2 weight" f32[262144] SUM by ring for 3 | \
            12300 ms
            > rank 3 is to blame: it never called allReduce "dense2 weight" seq 17 of group "tcp"; its last call was \
            allReduce seq 16, 12.3 s earlier; it is in no call of ferro, but in its own code
            > ranks 0-2 wait in allReduce "dense2 weight" seq 17 of group "tcp" for rank 3
            ~ ranks 0-2: allReduce "dense2 weight" seq 17, running at step 3
            ~ rank 3: allReduce seq 16, done; 1 call behind ranks 0-2

            a rank that wrote nothing is to blame for a timeout
            4 ranks after 5 calls | 0 1 3 in seq 6 for 2 | 3000 ms | 0 1 3 fail TIMED_OUT by 2 at 6: gave up on rank 2 | \
            0 1 3 wrote
            guilty 2
            > rank 2 is to blame: it wrote no recording (stopped, killed or stuck), while the others were in \
            allReduce seq 6 of group "tcp"
            > ranks 0, 1, 3 agree: TIMED_OUT: gave up on rank 2

            a rank whose failure knows nothing is to blame for a timeout
            2 ranks after 5 calls | 0 in seq 6 for 1 | 1 in seq 6 | all fail TIMED_OUT by none at 6: gave up | knows 0
            guilty 1
            > rank 1 is to blame: it failed in allReduce seq 6 of group "tcp", at step 3, 65536 bytes moved
            > rank 0 reports: TIMED_OUT, no rank to blame: gave up

            a rank that is only slow is not
            2 ranks after 5 calls | 0 in seq 6 for 1 | 1 in seq 6 | all fail TIMED_OUT by none at 6: gave up | knows 1
            guilty
            > no rank can be blamed: TIMED_OUT in group "tcp" at seq 6
            > ranks 0, 1 agree: TIMED_OUT: gave up

            a killed rank is told from a stopped one
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 0 2 fail PEER_LOST by 1 at 6: rank 1 is gone | 0 2 wrote
            > rank 1 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself), \
            while the others were in allReduce seq 6 of group "tcp"
            > ranks 0, 2 agree: PEER_LOST: rank 1 is gone

            an exception that the launcher saw wins over a missing recording
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 0 2 fail PEER_LOST by 1 at 6: rank 1 is gone | 0 2 wrote | \
            1 THREW java.lang.IllegalStateException: no data
            guilty 1
            > rank 1 is to blame: it threw java.lang.IllegalStateException: no data, while the others were in \
            allReduce seq 6 of group "tcp"
            > ranks 0, 2 agree: PEER_LOST

            exit code 0 that the launcher saw wins over a missing recording
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 0 2 fail PEER_LOST by 1 at 6: rank 1 is gone | 0 2 wrote | \
            1 WELL
            > rank 1 is to blame: it ended with exit code 0 before the others had finished allReduce seq 6 of group \
            "tcp"
            > ranks 0, 2 agree: PEER_LOST

            a process that a signal has suspended is named
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 0 2 fail PARTITION by 1 at 6: nothing heard from rank 1 | \
            0 2 wrote | 0 2 CODE exit code 1 | 1 HALTED
            > rank 1 is to blame: its process was suspended by a signal (SIGSTOP, ctrl-Z, a debugger), while the \
            others were in allReduce seq 6 of group "tcp"
            > ranks 0, 2 agree: PARTITION: nothing heard from rank 1

            the end of a rank without a recording is shown beside the recordings
            3 ranks after 5 calls | 0 2 fail PEER_LOST by 1 at 6: rank 1 is gone | 0 2 wrote | \
            1 SIGNAL ended by signal KILL (exit code 137)
            > rank 1 is to blame: its process is gone: ended by signal KILL (exit code 137)
            > ranks 0, 2 agree: PEER_LOST
            ~ rank 1 wrote no recording: ended by signal KILL (exit code 137)

            the exception of a rank that aborted is named before the abort
            2 ranks after 5 calls | 0 in seq 6 for 1 | all fail ABORTED by 1 at 6: rank 1 aborted the group: no data | \
            1 THREW java.lang.Error: no data
            > rank 1 is to blame: it threw java.lang.Error: no data, and aborted the group after allReduce seq 5 of \
            group "tcp"
            > rank 0 reports: ABORTED: rank 1 aborted the group: no data

            an exit code that may be a consequence hides nothing that a rank recorded
            2 ranks after 5 calls | 0 in seq 6 for 1 | all fail TIMED_OUT by 1 at 6: gave up on rank 1 | \
            1 CODE exit code 1
            > rank 1 is to blame: it never called allReduce seq 6 of group "tcp"; its last call was allReduce seq 5; \
            it is in no call of ferro, but in its own code
            > rank 0 reports: TIMED_OUT: gave up on rank 1

            the minority is to blame for calls that differ
            4 ranks after 5 calls | 0 2 3 in seq 6 | 1 in seq 6 allReduce f32[262143] SUM by ring
            guilty 1
            > lengths differ under seq 6 of group "tcp": rank 1 differs from the others
            > rank 1 called allReduce f32[262143] SUM by ring
            > ranks 0, 2, 3 called allReduce f32[262144] SUM by ring
            > all ranks must pass the same length; gather, allGather, scatter, reduceScatter and allToAll have forms \
            with counts for lengths that differ
            ~ different calls under seq 6:

            calls that differ in more than their lengths are calls that differ
            2 ranks after 5 calls | 0 in seq 6 | 1 in seq 6 broadcast f32[8] root 0 by staged
            > ranks made different calls under seq 6 of group "tcp": one side is wrong
            > rank 0 called allReduce f32[262144] SUM by ring
            > rank 1 called broadcast f32[8] root 0 by staged

            ranks that blamed more than the one that differs do not contradict the verdict
            3 ranks after 5 calls | 0 2 in seq 6 | 1 in seq 6 allReduce f32[1000000] SUM by halving | \
            all fail MISMATCH by 0 1 2 at 6: ranks made different calls at seq 6: ... | explains MISMATCH
            guilty 1
            > lengths differ under seq 6 of group "tcp": rank 1 differs from the others
            > rank 1 called allReduce f32[1000000] SUM by halving
            > ranks 0, 2 called allReduce f32[262144] SUM by ring
            > all ranks must pass the same length; gather, allGather, scatter, reduceScatter and allToAll have forms \
            with counts for lengths that differ

            roots that differ are named with what to do
            2 ranks after 5 calls | 0 in seq 6 broadcast f32[8] root 0 by staged | \
            1 in seq 6 broadcast f32[8] root 1 by staged
            > roots differ under seq 6 of group "tcp": one side is wrong
            > rank 0 called broadcast f32[8] root 0 by staged
            > rank 1 called broadcast f32[8] root 1 by staged
            > all ranks must name the same root

            both roots are shown where one rank saw both and the others closed well
            3 ranks after 5 calls | 2 in seq 6 broadcast f32[8] root 1 by staged | \
            2 fail MISMATCH by 0 2 at 6: roots differ at seq 6: rank 0 broadcast f32[8] root 0 by staged, rank 2 broadcast f32[8] root 1 by staged | \
            2 wrote
            > ranks 0, 2 are to blame: their calls differ
            > rank 2 reports: MISMATCH: roots differ at seq 6: rank 0 broadcast f32[8] root 0 by staged, rank 2 \
            broadcast f32[8] root 1 by staged

            a chain of waiting is followed through other groups
            4 ranks after 5 calls | group tcp[2,3] 2 3 | 0 1 in seq 6 | \
            2 in tcp[2,3]/seq 1 broadcast f32[8] from 0 by binomial for 3 | 500 ms
            guilty 3
            > rank 3 is to blame: it never called allReduce seq 6 of group "tcp"; its last call was allReduce seq 5, \
            499.9 ms earlier; it is in no call of ferro, but in its own code
            > ranks 0, 1 wait in allReduce seq 6 of group "tcp" for ranks 2, 3
            > rank 2 waits in broadcast seq 1 of group "tcp[2,3]" for rank 3

            ranks that wait for one another in two groups are a deadlock
            2 ranks after 5 calls | group dp 0 1 | 0 in seq 6 | 1 in dp/seq 1
            guilty 0 1
            > ranks 0, 1 wait for each other: a deadlock
            > rank 0 waits in allReduce seq 6 of group "tcp" for rank 1
            > rank 1 waits in allReduce seq 1 of group "dp" for rank 0

            a rank to blame is not among the ranks that agree
            3 ranks after 5 calls | all fail PEER_LOST by 1 at 6: rank 1 left after seq 5 | explains PEER_LOST
            > rank 1 is to blame: it left; its last call was allReduce seq 5
            > ranks 0, 2 agree: PEER_LOST: rank 1 left after seq 5

            a rank that says something else is shown
            3 ranks after 5 calls | 0 fail PEER_LOST by 2 at 6: rank 2 is gone | \
            1 fail TIMED_OUT by 0 at 6: gave up on rank 0 | 0 1 wrote
            guilty 2
            > rank 2 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself)
            > rank 0 reports: PEER_LOST: rank 2 is gone
            > rank 1 reports another failure: TIMED_OUT, rank 0 to blame: gave up on rank 0

            the loss of a rank that left because of a failure does not hide the failure
            3 ranks after 5 calls | group tcp[0,1] 0 1 | all fail ABORTED by 2 at 6: rank 2 aborted the group: no data | \
            200 ms | 0 also fail PEER_LOST by 1: rank 1 is gone
            guilty 2
            > rank 2 is to blame: it aborted the group after allReduce seq 5 of group "tcp"
            > ranks 0, 1 agree: ABORTED: rank 2 aborted the group: no data

            an abort behind a call that all ranks have ended is after that call
            3 ranks after 5 calls | 9 ms | all fail ABORTED by 1: rank 1 was ended by shutdown (SIGTERM) after seq 5
            > rank 1 is to blame: it aborted the group after allReduce seq 5 of group "tcp"
            > ranks 0, 2 agree: ABORTED: rank 1 was ended by shutdown (SIGTERM) after seq 5

            an abort in a call of its own is at that call, also if it is a message
            3 ranks after 5 calls | 1 in recv from rank 0 tag 9 | 0 2 in seq 6 for 1 | \
            all fail ABORTED by 1: the JVM exits while rank 1 is in recv from rank 0 tag 9
            > rank 1 is to blame: it aborted the group at recv from rank 0 tag 9 of group "tcp"
            > ranks 0, 2 agree: ABORTED: the JVM exits while rank 1 is in recv from rank 0 tag 9

            an abort of a rank that recorded nothing names no call
            2 ranks after 5 calls | 0 in seq 6 for 1 | 0 fail ABORTED by 1: rank 1 aborted the group: no data | \
            0 wrote
            > rank 1 is to blame: it aborted the group
            > rank 0 reports: ABORTED: rank 1 aborted the group: no data

            the loss of a rank while others receive names the message and not the last call of all
            3 ranks after 5 calls | 2 in recv from rank 1 tag 7 for 1 | 12 ms | \
            all fail PEER_LOST by 1: rank 1 left after seq 5
            > rank 1 is to blame: it left, although rank 2 was in recv from rank 1 tag 7 of group "tcp"; its last \
            call was allReduce seq 5, 11.8 ms earlier
            > ranks 0, 2 agree: PEER_LOST: rank 1 left after seq 5

            a message of another length than its receive is no call that was never made
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 1 in recv from rank 0 tag 7 for 0 | \
            all fail MISMATCH by 0 1: rank 0 sent i32[3], 12 bytes, to rank 1 with tag 7, rank 1 receives i32[4], 16 \
            bytes
            > ranks 0, 1 are to blame: their calls differ
            > rank 2 reports: MISMATCH: rank 0 sent i32[3], 12 bytes, to rank 1 with tag 7, rank 1 receives i32[4], \
            16 bytes

            a rank that never made a call is in the message that it waits for
            3 ranks after 5 calls | 0 in seq 6 for 1 | 1 in recv from rank 2 tag 7 for 2 | \
            all fail TIMED_OUT by 1 at 6: gave up
            > rank 1 is to blame: it never called allReduce seq 6 of group "tcp"; its last call was allReduce seq 5; \
            it was in recv from rank 2 tag 7 of group "tcp", waiting for rank 2
            > ranks 0, 2 agree: TIMED_OUT: gave up

            a message of ferro itself is named by its purpose
            3 ranks | 0 in recv "join" from rank 2 tag -1 for 2 | 1 in recv from rank 0 tag -1 for 0 | \
            0 1 fail PEER_LOST by 2: rank 2 is gone | 0 1 wrote
            > rank 2 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself), \
            while rank 0 was in join of group "tcp" and rank 1 was in a message of ferro of group "tcp"
            > ranks 0, 1 agree: PEER_LOST: rank 2 is gone

            a rank that has failed before by itself does not agree
            3 ranks after 5 calls | 0 in seq 6 for 1 | 0 fail ABORTED by 0: rank 0 was ended by shutdown (SIGTERM) | \
            2 in seq 6 for 1 | 0 2 fail PEER_LOST by 1: rank 1 is gone | 0 2 wrote
            > rank 1 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself), \
            while the others were in allReduce seq 6 of group "tcp"
            > rank 2 reports: PEER_LOST: rank 1 is gone

            calls of the others are named each with its ranks
            4 ranks after 5 calls | 0 in recv from rank 3 tag 7 for 3 | 1 2 in seq 6 for 0 | \
            0 1 2 fail PEER_LOST by 3: rank 3 is gone | 0 1 2 wrote
            > rank 3 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself), \
            while rank 0 was in recv from rank 3 tag 7 of group "tcp" and ranks 1, 2 were in allReduce seq 6 of \
            group "tcp"
            > ranks 0-2 agree: PEER_LOST: rank 3 is gone

            reasons of the others are left out where the end of the rank is known
            3 ranks after 5 calls | 0 2 fail PEER_LOST by 1 at 6: rank 1 is gone; its own output may say why | \
            0 2 wrote | 1 CODE exit code 3
            > rank 1 is to blame: it ended with exit code 3
            > ranks 0, 2 agree: PEER_LOST

            and are shown where it is unknown
            3 ranks after 5 calls | 0 2 fail PEER_LOST by 1 at 6: rank 1 is gone; its own output may say why | \
            0 2 wrote
            > rank 1 is to blame: its process is gone and wrote no recording (killed, crashed, or ended by itself)
            > ranks 0, 2 agree: PEER_LOST: rank 1 is gone; its own output may say why

            the loss of a rank while no rank is in a call names none
            2 ranks after 5 calls | 0 fail PEER_LOST by 1: rank 1 is gone | 0 wrote | 1 CODE exit code 3
            > rank 1 is to blame: it ended with exit code 3
            > rank 0 reports: PEER_LOST

            the exit code of a rank that left is told
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 7 ms | all fail PEER_LOST by 1 at 6: rank 1 left after seq 5 | \
            1 CODE exit code 3
            > rank 1 is to blame: it ended with exit code 3, while the others were in allReduce seq 6 of group \
            "tcp"; its last call was allReduce seq 5, 6.8 ms earlier
            > ranks 0, 2 agree: PEER_LOST

            the exit code of a rank that had heard of another's failure is not held against it
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 7 ms | 1 fail TIMED_OUT by 2 at 6: gave up on rank 2 | \
            0 2 fail PEER_LOST by 1 at 6: rank 1 left after seq 5 | 1 CODE exit code 3
            > rank 1 is to blame: it left, although the others were in allReduce seq 6 of group "tcp"; its last call \
            was allReduce seq 5, 6.8 ms earlier
            > ranks 0, 2 agree: PEER_LOST: rank 1 left after seq 5
            > rank 1 reports another failure: TIMED_OUT, rank 2 to blame: gave up on rank 2

            the exit code of a rank that aborted is told
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 7 ms | all fail ABORTED by 1: the JVM exits after seq 5 | \
            1 CODE exit code 3
            > rank 1 is to blame: it ended with exit code 3, and aborted the group after allReduce seq 5 of group \
            "tcp"
            > ranks 0, 2 agree: ABORTED: the JVM exits after seq 5

            the exit code of a rank that others still wait for is told
            3 ranks after 5 calls | 0 2 in seq 6 for 1 | 7 ms | 1 CODE exit code 3
            > rank 1 is to blame: it never called allReduce seq 6 of group "tcp"; its last call was allReduce seq 5, \
            6.9 ms earlier; it is in no call of ferro, but in its own code; in the end it ended with exit code 3
            > ranks 0, 2 wait in allReduce seq 6 of group "tcp" for rank 1

            the exit code is told where no rank is blamed
            3 ranks after 5 calls | 0 2 fail RESOURCE by none at 6: no memory | 0 CODE exit code 1 | \
            1 CODE exit code 3
            > no rank can be blamed: RESOURCE in group "tcp" at seq 6; rank 1: it ended with exit code 3
            > ranks 0, 2 agree: RESOURCE: no memory

            the exit code is told where no group has failed
            2 ranks after 5 calls | 1 CODE exit code 3
            > nothing is wrong in these recordings: no call hangs, none has failed, none differs; rank 1: it ended \
            with exit code 3

            ranks that did the same are in the plural, and their exception is as it is
            3 ranks after 5 calls | 2 in seq 6 for 0 1 | 2 fail PEER_LOST by 0 1 at 6: ranks 0, 1 are gone | 2 wrote | \
            0 1 THREW java.lang.Error: it has its limits
            > ranks 0, 1 are to blame: they threw java.lang.Error: it has its limits, while rank 2 was in allReduce \
            seq 6 of group "tcp"
            > rank 2 reports: PEER_LOST

            ranks that are gone are in the plural
            3 ranks after 5 calls | 2 in seq 6 for 0 1 | 2 fail PEER_LOST by 0 1 at 6: ranks 0, 1 are gone | 2 wrote
            > ranks 0, 1 are to blame: their processes are gone and wrote no recording (killed, crashed, or ended by \
            itself), while rank 2 was in allReduce seq 6 of group "tcp"
            > rank 2 reports: PEER_LOST: ranks 0, 1 are gone

            and so are ranks that a signal ended
            3 ranks after 5 calls | 2 in seq 6 for 0 1 | 2 fail PEER_LOST by 0 1 at 6: ranks 0, 1 are gone | 2 wrote | \
            0 1 SIGNAL ended by signal KILL (exit code 137)
            > ranks 0, 1 are to blame: their processes are gone: ended by signal KILL (exit code 137), while rank 2 \
            was in allReduce seq 6 of group "tcp"
            > rank 2 reports: PEER_LOST

            ranks that did different things are told one by one
            3 ranks after 5 calls | 2 in seq 6 for 0 1 | 2 fail PEER_LOST by 0 1 at 6: ranks 0, 1 are gone | 2 wrote | \
            0 THREW java.lang.Error: no data | 1 CODE exit code 3
            guilty 0 1
            > ranks 0, 1 are to blame: rank 0: it threw java.lang.Error: no data, while rank 2 was in allReduce seq \
            6 of group "tcp"; rank 1: it ended with exit code 3, while rank 2 was in allReduce seq 6 of group "tcp"
            > rank 2 reports: PEER_LOST

            a rank that sends nothing is to blame
            3 ranks after 5 calls | 0 in recv from rank 1 tag 0 for 1
            guilty 1
            > rank 1 is to blame: it is in no call of ferro, while rank 0 waits in recv from rank 1 tag 0 of group \
            "tcp"
            > rank 0 waits in recv from rank 1 tag 0 of group "tcp" for rank 1

            ranks that receive in a circle are a deadlock
            3 ranks | 0 in recv from rank 1 tag 0 for 1 | 1 in recv from rank 2 tag 0 for 2 | \
            2 in recv from rank 0 tag 0 for 0
            guilty 0 1 2
            > ranks 0-2 wait for each other: a deadlock
            > rank 0 waits in recv from rank 1 tag 0 of group "tcp" for rank 1
            > rank 1 waits in recv from rank 2 tag 0 of group "tcp" for rank 2
            > rank 2 waits in recv from rank 0 tag 0 of group "tcp" for rank 0

            and until their timeout
            3 ranks | 0 in recv from rank 1 tag 0 for 1 | 1 in recv from rank 2 tag 0 for 2 | \
            2 in recv from rank 0 tag 0 for 0 | 2000 ms | all fail TIMED_OUT by 1: gave up on rank 1
            > ranks 0-2 wait for each other: a deadlock
            > rank 0 waits in recv from rank 1 tag 0 of group "tcp" for rank 1
            > rank 1 waits in recv from rank 2 tag 0 of group "tcp" for rank 2
            > rank 2 waits in recv from rank 0 tag 0 of group "tcp" for rank 0

            and if they leave one after another behind their timeouts
            3 ranks | 0 in recv from rank 1 tag 0 for 1 | 1 in recv from rank 2 tag 0 for 2 | \
            2 in recv from rank 0 tag 0 for 0 | 2000 ms | 1 times out | 30 ms | 0 fail PEER_LOST by 1: rank 1 left | \
            2 times out
            > ranks 0-2 wait for each other: a deadlock
            > rank 0 waits in recv from rank 1 tag 0 of group "tcp" for rank 1
            > rank 1 waits in recv from rank 2 tag 0 of group "tcp" for rank 2
            > rank 2 waits in recv from rank 0 tag 0 of group "tcp" for rank 0

            a deadlock of sends has advice
            2 ranks | 0 in send to rank 1 tag 0 for 1 | 1 in send to rank 0 tag 0 for 0 | 2000 ms
            > ranks 0, 1 wait for each other: a deadlock
            > rank 0 waits in send to rank 1 tag 0 of group "tcp" for rank 1
            > rank 1 waits in send to rank 0 tag 0 of group "tcp" for rank 0
            > each rank sends before it receives: use sendReceive, or sendAsync before the recv

            a receive that timed out and a barrier that waits for its rank are a deadlock
            2 ranks | 0 in recv from rank 1 tag 0 for 1 | 1 in seq 1 barrier by flat for 0 | 2000 ms | 0 times out | \
            30 ms | 1 fail PEER_LOST by 0: rank 0 left
            > ranks 0, 1 wait for each other: a deadlock
            > rank 0 waits in recv from rank 1 tag 0 of group "tcp" for rank 1
            > rank 1 waits in barrier seq 1 of group "tcp" for rank 0

            a rank that sent nothing until the timeout is to blame, and not the rank that left
            3 ranks | 0 in recv from rank 1 tag 0 for 1 | 2000 ms | 0 times out | 30 ms | 1 2 in seq 1 for 0 | \
            1 2 fail PEER_LOST by 0: rank 0 left
            guilty 1
            > rank 1 is to blame: it is in no call of ferro, while rank 0 waits in recv from rank 1 tag 0 of group \
            "tcp" and rank 2 waits in allReduce seq 1 of group "tcp"
            > rank 0 waits in recv from rank 1 tag 0 of group "tcp" for rank 1

            a timeout that a rank has caught is forgotten
            3 ranks | 0 in recv from rank 1 tag 0 for 1 | 2000 ms | 0 times out | 5 calls | \
            0 1 fail PEER_LOST by 2 at 6: rank 2 is gone
            guilty 2
            > rank 2 is to blame: it left, although rank 0 was in recv from rank 1 tag 0 of group "tcp"; its last \
            call was allReduce seq 5
            > ranks 0, 1 agree: PEER_LOST: rank 2 is gone

            a rank that waits for no other is to blame for a timeout of a circle
            3 ranks after 5 calls | 0 in recv from rank 1 tag 0 for 1 | 1 in recv from rank 2 tag 0 for 2 | \
            all fail TIMED_OUT by 2: gave up on rank 2
            guilty 2
            > rank 2 is to blame: it has finished allReduce seq 5 of group "tcp", 1048576 bytes moved
            > ranks 0, 1 agree: TIMED_OUT: gave up on rank 2

            a rank that waits for a message is not to blame for a collective
            3 ranks after 5 calls | 0 in seq 6 | 1 in recv from rank 2 tag 0 for 2
            guilty 2
            > rank 2 is to blame: it never called allReduce seq 6 of group "tcp"; its last call was allReduce seq 5; \
            it is in no call of ferro, but in its own code
            > rank 0 waits in allReduce seq 6 of group "tcp" for ranks 1, 2
            > rank 1 waits in recv from rank 2 tag 0 of group "tcp" for rank 2

            a rank that has asked for a message in advance is still to blame
            2 ranks after 5 calls | 0 in seq 6 | 1 in recv from rank 0 tag 0 for 0
            guilty 1
            > rank 1 is to blame: it never called allReduce seq 6 of group "tcp"; its last call was allReduce seq 5; \
            it is in recv from rank 0 tag 0 of group "tcp", waiting for rank 0
            > rank 0 waits in allReduce seq 6 of group "tcp" for rank 1

            of a quiet job the rank whose recording is damaged is named
            3 ranks after 5 calls | 1 damaged | 0 wrote
            > no call hangs and none has failed, but rank 2 wrote no recording, and the recording of rank 1 is damaged
            > rank 1 wrote a recording that is damaged: it is not valid JSON, or ends too early (line 1 column 13)
            > rank 2 wrote no recording: dead, killed, stopped, asked too late, or on another host
            ~ rank 1 wrote a recording that is damaged: it is not valid JSON, or ends too early
            ~   rank 2 wrote no recording: dead
            ~   rank 1: recording damaged

            a rank to blame whose recording is damaged has not written none
            3 ranks after 5 calls | 0 2 fail PEER_LOST by 1 at 6: the connection to rank 1 was closed | 1 damaged | 0 2 wrote
            > rank 1 is to blame: its process is gone; its recording is damaged: it is not valid JSON, or ends too early (line 1 \
            column 13)
            > ranks 0, 2 agree: PEER_LOST: the connection to rank 1 was closed

            the end of the process of a rank whose recording is damaged is kept
            3 ranks after 5 calls | 0 2 fail PEER_LOST by 1 at 6: the connection to rank 1 was closed | 1 damaged | 0 2 wrote | \
            1 CODE exit code 3
            > rank 1 is to blame: it ended with exit code 3; its recording is damaged: it is not valid JSON, or ends too early (line 1 \
            column 13)
            > ranks 0, 2 agree: PEER_LOST

            a rank whose recording is damaged was stopped and has not written none
            3 ranks after 5 calls | 0 2 fail PEER_LOST by 1 at 6: the connection to rank 1 was closed | 1 damaged | 0 2 wrote | \
            1 STOPPED
            > rank 1 is to blame: its process is gone; its recording is damaged: it is not valid JSON, or ends too early (line 1 \
            column 13)
            > ranks 0, 2 agree: PEER_LOST: the connection to rank 1 was closed
            """;

    @TempDir
    private Path folder;

    private static Stream<Named<String>> cases() {
        return Stream.of(CASES.split("\n\n"))
                .map(text -> Named.of(text.lines().findFirst().orElseThrow(), text));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void theVerdictOfAJobIsTheExpectedText(String text) throws Exception {
        List<String> lines = text.lines().toList();
        List<String> steps = List.of(lines.get(1).split(" \\| "));
        MatchResult made = found(JOB, steps.get(0));
        RecordedJob job = new RecordedJob(Integer.parseInt(made.group(1)));
        if (made.group(2) != null) {
            job.calls(1, Integer.parseInt(made.group(2)), 0);
        }
        List<Integer> wrote = job.allBut();
        Map<Integer, ProcessEnd> ends = new HashMap<>();
        List<String> explained = new ArrayList<>();
        for (String step : steps.subList(1, steps.size())) {
            if (step.endsWith(" wrote")) {
                wrote = ranks(job, step.replace(" wrote", ""));
            } else if (step.endsWith(" damaged")) {
                Files.writeString(folder.resolve("ferro-a1b2c3d4-rank" + step.charAt(0) + ".json"), "{\"format\":1,");
            } else if (step.startsWith("explains ")) {
                explained.add(step.substring(9));
            } else if (END.matcher(step).matches()) {
                MatchResult end = found(END, step);
                ranks(job, end.group(1))
                        .forEach(rank -> ends.put(rank, new ProcessEnd(EndKind.valueOf(end.group(2)), end.group(3))));
            } else {
                happens(job, step);
            }
        }

        Analysis analysis = ends.isEmpty()
                ? job.analyzed(folder, wrote)
                : job.analyzed(folder, wrote, new ProcessEnds(ends, Set.of(), Map.of()));

        String report = String.join("\n", analysis.text());
        assertEquals(starting("> ", lines), analysis.verdict());
        starting("~ ", lines).forEach(part -> assertHas(report, part));
        Set<Integer> missing = new TreeSet<>(job.allBut());
        wrote.forEach(missing::remove);
        assertEquals(missing, analysis.missing());
        assertEquals(
                analysis.verdict().get(0).endsWith("a deadlock"),
                analysis.judged().isDeadlock());
        for (String guilty : starting("guilty", lines)) {
            assertEquals(Set.copyOf(ranks(job, guilty.strip())), analysis.guilty());
        }
        for (String code : explained) {
            job.allBut().forEach(rank -> assertTrue(analysis.judged().explains(rank, code)));
        }
    }

    private static void happens(RecordedJob job, String step) {
        String[] words = step.split(" ");
        if (step.endsWith(" ms")) {
            job.passes(Integer.parseInt(words[0]) * RecordedJob.MILLI);
        } else if (step.endsWith(" calls")) {
            job.calls(1, Integer.parseInt(words[0]), 0);
        } else if (step.endsWith(" times out")) {
            job.timesOut(Integer.parseInt(words[0]));
        } else if (step.startsWith("knows ")) {
            job.knows(job.allBut(), Integer.parseInt(words[1]));
        } else if (step.startsWith("group ")) {
            job.group(words[1], ranks(job, step.substring(7 + words[1].length())));
        } else if (FAILURE.matcher(step).matches()) {
            MatchResult failure = found(FAILURE, step);
            List<Integer> culprits = ranks(job, failure.group(4));
            if (failure.group(2) != null) {
                job.failSecond(Integer.parseInt(words[0]), failure.group(3), culprits, failure.group(6));
            } else {
                int sequence = failure.group(5) == null ? -1 : Integer.parseInt(failure.group(5));
                job.fail(ranks(job, failure.group(1)), failure.group(3), culprits, sequence, failure.group(6));
            }
        } else {
            MatchResult call = found(CALL, step);
            String group = call.group(2) == null ? RecordedJob.GROUP : call.group(2);
            int sequence = call.group(3) == null ? -1 : Integer.parseInt(call.group(3));
            String text = call.group(4).isEmpty() ? RecordedJob.TEXT : call.group(4);
            Integer[] awaited = call.group(5) == null
                    ? new Integer[0]
                    : ranks(job, call.group(5)).toArray(Integer[]::new);
            ranks(job, call.group(1)).forEach(rank -> job.hangs(rank, group, sequence, text, awaited));
        }
    }

    private static MatchResult found(Pattern pattern, String step) {
        var matcher = pattern.matcher(step);
        assertTrue(matcher.matches(), step);
        return matcher.toMatchResult();
    }

    private static List<Integer> ranks(RecordedJob job, String text) {
        if (text.equals("all")) {
            return job.allBut();
        }
        return text.isEmpty() || text.equals("none")
                ? List.of()
                : Stream.of(text.split(" ")).map(Integer::valueOf).toList();
    }

    private static List<String> starting(String mark, List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(mark))
                .map(line -> line.substring(mark.length()))
                .toList();
    }
}
