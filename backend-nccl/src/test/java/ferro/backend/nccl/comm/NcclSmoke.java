package ferro.backend.nccl.comm;

import ferro.Collective;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.LibraryLocations;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.group.SystemContext;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Every kind of call once, in a JVM of its own: for libraries that lack functions, and for those with sanitizers.
 * Arguments are settings, {@code name=value}; prints {@code what: value} for rank 0.
 */
final class NcclSmoke {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int RANKS = 3;

    private NcclSmoke() {}

    /** Makes a world, calls everything, ends it in two ways. */
    public static void main(String[] arguments) {
        Map<String, String> settings = new HashMap<>();
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            settings.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
        SystemContext context = SystemContext.of(settings);
        StandInHooks.bind(LibraryLoader.load(LibraryLocations.of(context)).nccl());
        say("version", LibraryLoader.loaded().orElseThrow().version());
        NcclRanks.run(NcclWorld.createWorld(context, 0, 1, 2), NcclSmoke::everything);
        NcclRanks.run(NcclWorld.createWorld(context, 2, 1, 0), NcclSmoke::aborted);
        context.close();
        say("live", StandInHooks.standInLive("all"));
        say("misuse", StandInHooks.standInMisuse());
    }

    private static void say(String what, Object value) {
        System.out.println(what + ": " + value);
    }

    private static void everything(JnaNcclBackend rank) {
        int me = rank.rank();
        float[] own = {me + 2, me + 5};
        float[] all = new float[2 * RANKS];
        float[] part = new float[2];
        call(rank, Collective.allReduce(of(own), of(part), ReduceOp.SUM), part);
        call(rank, Collective.allReduce(of(own), of(part), ReduceOp.AVG), part);
        call(rank, Collective.reduce(of(own), of(part), ReduceOp.MAX, 0), part);
        call(rank, Collective.allGather(of(own), of(all)), all);
        call(rank, Collective.reduceScatter(of(all), of(part), ReduceOp.PRODUCT), part);
        call(rank, Collective.gather(of(own), of(all), 0), all);
        call(rank, Collective.scatter(of(all), of(part), 0), part);
        call(rank, Collective.allToAll(of(all), of(new float[2 * RANKS])), all);
        call(rank, Collective.broadcast(of(part), 1), part);
        rank.barrier(SOON);
        messages(rank);
        try (JnaNcclBackend reversed = (JnaNcclBackend) rank.newGroup(new int[] {2, 1, 0}, "reversed", SOON)) {
            call(reversed, Collective.broadcast(of(own), 1), own);
        }
        rank.close();
    }

    private static HostTensor of(float[] data) {
        return HostTensor.of(data);
    }

    private static void call(JnaNcclBackend rank, Collective call, float[] result) {
        String answer;
        try {
            rank.run(call, SOON);
            answer = Arrays.toString(result);
        } catch (UnsupportedOperationException refused) {
            answer = refused.getMessage();
        }
        if (rank.device() == 0) {
            say(call.kind() + (call.op() == null ? "" : " " + call.op()), answer);
        }
    }

    private static void messages(JnaNcclBackend rank) {
        ByteBuffer message = ByteBuffer.allocate(3);
        try {
            if (rank.rank() == 1) {
                rank.send(message.put(0, (byte) 77), 0, 0, SOON);
            } else if (rank.rank() == 0) {
                rank.recv(message, 1, 0, SOON);
                say("message", message.get(0));
            }
        } catch (UnsupportedOperationException refused) {
            say("message", refused.getMessage());
        }
    }

    private static void aborted(JnaNcclBackend rank) {
        try {
            if (rank.rank() == 1) {
                rank.abort(new IllegalStateException("enough"));
            }
            rank.barrier(SOON);
        } catch (FerroException ended) {
            if (rank.rank() == 0) {
                say("ended", ended.code() + " by " + ended.where().culprits());
            }
        }
        rank.close();
    }
}
