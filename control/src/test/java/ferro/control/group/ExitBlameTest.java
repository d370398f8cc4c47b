package ferro.control.group;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.FerroException;
import ferro.FerroException.Code;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The messages of a process that has exited that are read before the process is blamed. */
class ExitBlameTest {
    private final Processes host = new Processes("");
    private final Watchers world = new Watchers(2, 1000, Map.of(), host).enter();

    /** The thread that reads may get no processor for a longer time than the timers. */
    @Test
    void anExitedProcessIsNotBlamedBeforeItsGoodbyeIsRead() {
        world.pass(Duration.ofSeconds(3));
        Watchers.Rank leaver = world.ranks.get(1);
        world.ranks.get(0).tellsOfReads = true;
        world.ranks.get(0).reads = false;
        leaver.membership.leave(leaver);
        leaver.paused = true;
        host.exited = "process of 1";
        world.pass(Duration.ofMillis(120));
        world.ranks.get(0).reads = true;
        world.pass(Duration.ofSeconds(1));

        assertEquals(List.of(), world.ranks.get(0).heard);
    }

    @Test
    void allRanksOfAnExitedProcessAreBlamedAtTheSameTime() {
        Watchers shared = new Watchers(20, 1000, Map.of(), rank -> host.apply(Integer.signum(rank))).enter();
        shared.pass(Duration.ofSeconds(3));
        shared.ranks.stream().skip(1).forEach(rank -> rank.paused = true);
        host.exited = "process of 1";
        for (int millis = 0; shared.ranks.get(0).heard.isEmpty() && millis < 60_000; millis++) {
            shared.pass(Duration.ofMillis(1));
        }

        assertEquals(19, shared.ranks.get(0).heard.size(), () -> "" + shared.ranks.get(0).heard);
    }

    @Test
    void anExitedProcessIsBlamedWithin250MillisIfNothingIsRead() {
        world.pass(Duration.ofSeconds(3));
        world.ranks.get(0).tellsOfReads = true;
        world.ranks.get(0).reads = false;
        world.ranks.get(1).paused = true;
        host.exited = "process of 1";
        world.pass(Duration.ofMillis(250));

        assertEquals(
                List.of(Code.PEER_LOST),
                world.ranks.get(0).peerFailures.stream()
                        .map(FerroException::code)
                        .toList());
        world.ranks.get(0).reads = true;
        world.pass(Duration.ofSeconds(1));
        assertEquals(List.of("lost 1"), world.ranks.get(0).heard, "once");
    }
}
