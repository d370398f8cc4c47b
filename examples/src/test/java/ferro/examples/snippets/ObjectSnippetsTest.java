package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.Gson;
import ferro.ReduceOp;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.Codec;
import ferro.group.GroupObjects;
import ferro.group.GroupObjects.ReceivedObject;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ObjectSnippetsTest {
    private static final int RANKS = 4;

    private record Score(String name, double accuracy) {}

    @Test
    void sendsTexts() {
        SimulatedBackend.run(RANKS, group -> {
            double seconds = group.rank() + 0.5;
            // @start region="objects"
            GroupObjects<String> texts = group.objects(Codec.utf8());
            String run = texts.broadcast(group.rank() == 0 ? "run 17" : null, 0);
            List<String> hosts = texts.allGather("host of rank " + group.rank());
            double slowest = texts.allReduce(seconds, ReduceOp.MAX);
            // @end
            assertEquals("run 17", run);
            assertEquals(List.of("host of rank 0", "host of rank 1", "host of rank 2", "host of rank 3"), hosts);
            assertEquals(3.5, slowest);
        });
    }

    @Test
    void reducesTexts() {
        SimulatedBackend.run(RANKS, group -> {
            List<String> printed = new ArrayList<>();
            String name = "rank" + "!".repeat(group.rank() % 3);
            // @start region="objectReductions"
            GroupObjects<String> texts = group.objects(Codec.utf8());
            Optional<String> longest = texts.reduce(name, (a, b) -> a.length() < b.length() ? b : a, 0);
            longest.ifPresent(text -> printed.add("the longest name is " + text)); // on rank 0
            // @end
            assertEquals(group.rank() > 0 ? List.of() : List.of("the longest name is rank!!"), printed);
        });
    }

    @Test
    void sendsMessages() {
        SimulatedBackend.run(RANKS, group -> {
            List<String> printed = new ArrayList<>();
            // @start region="objectMessages"
            GroupObjects<String> texts = group.objects(Codec.utf8());
            if (group.rank() > 0) {
                texts.send("done on rank " + group.rank(), 0, 1);
            } else {
                for (int count = 1; count < group.worldSize(); count++) {
                    ReceivedObject<String> next = texts.recv(ProcessGroup.ANY_SOURCE, 1);
                    printed.add(next.status().source() + ": " + next.value());
                }
            }
            // @end
            Collections.sort(printed);
            List<String> sent = List.of("1: done on rank 1", "2: done on rank 2", "3: done on rank 3");
            assertEquals(group.rank() > 0 ? List.of() : sent, printed);
        });
    }

    @Test
    void sendsRecordsAsJson() {
        Gson gson = new Gson();
        SimulatedBackend.run(RANKS, group -> {
            // @start region="json"
            Codec<Score> json = Codec.utf8().map(gson::toJson, text -> gson.fromJson(text, Score.class));
            List<Score> all = group.objects(json).allGather(new Score("rank " + group.rank(), 0.5));
            // @end
            assertEquals(RANKS, all.size());
            assertEquals(new Score("rank 3", 0.5), all.get(3));
        });
    }
}
