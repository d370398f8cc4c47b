package ferro.training;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.Ranks;
import ferro.spi.GroupSpec;
import ferro.training.checkpoint.CheckpointSettings;
import ferro.training.checkpoint.Checkpoints;
import ferro.training.checkpoint.LocalStorage;
import ferro.training.checkpoint.NamedTensor;
import ferro.training.checkpoint.TrainingState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A rank that counts its steps in a parameter until SIGTERM: rank, world size, port of the store, folder, what it does then. */
public final class TrainsUntilTerminated {
    /** The bound of processes that hang. From the order to end on it leaves them a second for their last words. */
    static final Duration BOUND = Duration.ofSeconds(8);

    private TrainsUntilTerminated() {}

    /** Trains. */
    public static void main(String... arguments) {
        String then = arguments[4];
        boolean bounded = then.endsWith("-hook") || then.equals("hang");
        Termination termination = Termination.onSigterm(bounded ? BOUND : Duration.ofSeconds(60));
        if (then.endsWith("-hook")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                System.out.println("hook");
                hang();
            }));
        }
        SystemContext context = SystemContext.of(Ranks.atStore(Integer.parseInt(arguments[2])));
        GroupSpec spec = GroupSpec.of(
                "world", Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), Duration.ofSeconds(60));
        LocalStorage storage = LocalStorage.at(Path.of(arguments[3]));
        try (ProcessGroup group = Groups.join(spec, context);
                Checkpoints checkpoints = Checkpoints.open(group, storage, CheckpointSettings.DEFAULT)) {
            float[] steps = {0};
            do {
                float[] one = {1};
                group.allReduce(one, ReduceOp.AVG);
                steps[0] += one[0];
                if (steps[0] == 3) {
                    System.out.println("training");
                }
            } while (!termination.agreed(group));
            if (then.startsWith("hang")) {
                hang();
            }
            checkpoints.save((long) steps[0], TrainingState.of(List.of(NamedTensor.of("steps", HostTensor.of(steps)))));
            System.out.println("saved " + (long) steps[0]);
        }
        System.out.println("left");
        termination.exit();
        System.out.println("not reached");
    }

    private static void hang() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException("interrupted", interrupted);
        }
    }
}
