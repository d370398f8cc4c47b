package ferro.backend.shm;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import ferro.spi.SegmentSize;
import ferro.spi.SharedMemory;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A process that makes a segment up to some stage, tells its offer if it has one, and waits for its end. Arguments: folder,
 * {@code hidden}, {@code named}, {@code provided} (by the provider, all stages) or {@code starved} (so, without a
 * descriptor left, beside memory that was there before), number of stages (one more than there are: settled too), bytes.
 */
public final class SharingProcess {
    private SharingProcess() {}

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        if (arguments[1].equals("provided") || arguments[1].equals("starved")) {
            provide(folder, arguments[1].equals("starved"), Long.parseLong(arguments[3]));
            return;
        }
        boolean hidden = arguments[1].equals("hidden");
        SegmentFolder place = hidden ? SegmentFolders.onTheMachine(folder) : SegmentFolders.inAContainer(folder);
        int wanted = Integer.parseInt(arguments[2]);
        Segment segment = new Segment(place, SegmentSize.now(Long.parseLong(arguments[3])), 0);
        List<Segment.CreationStage> stages = segment.stages();
        for (Segment.CreationStage stage : stages.subList(0, Math.min(wanted, stages.size()))) {
            stage.run();
        }
        String offer = "none";
        if (wanted >= stages.size()) {
            GroupSpec group = GroupSpec.of("world", 0, 2, Duration.ofSeconds(10));
            ShmMemory memory = new ShmMemory(group, place, segment, new MemoryBudget().new Reservation(0, () -> {}));
            memory.area(0).putInt(100, 4711);
            offer = HexFormat.of().formatHex(memory.offer());
            if (wanted > stages.size()) {
                memory.settle();
            }
        }
        System.out.println(offer);
        System.in.read();
    }

    private static void provide(Path folder, boolean starved, long bytes) {
        SystemContext context = SystemContext.of(Map.of("ferro.shm.dir", folder.toString()));
        GroupSpec group = GroupSpec.of("world", 1, 2, Duration.ofSeconds(10));
        List<InputStream> open = new ArrayList<>();
        if (starved) {
            SharedMemory earlier = new ShmMemoryProvider()
                    .open(
                            group,
                            context,
                            SegmentSize.now(bytes).withLater(4096, 8192).withRanks(2));
            earlier.settle();
            // reads the classes of a failure, which takes descriptors too
            System.out.println(new FerroException(
                    Code.RESOURCE,
                    Where.of("", -1),
                    SegmentShortage.of(new IOException("none yet")).text(),
                    null));
            takeAllDescriptors(open);
            earlier.reserve(4096, 4096);
            System.out.println("reserved");
        }
        try {
            new ShmMemoryProvider().open(group, context, SegmentSize.now(bytes));
        } finally {
            System.out.println(open.size() + " descriptors were taken");
        }
    }

    private static void takeAllDescriptors(List<InputStream> open) {
        try {
            while (true) {
                open.add(new FileInputStream("/dev/null"));
            }
        } catch (FileNotFoundException full) {
            System.out.println(full.getMessage());
        }
    }
}
