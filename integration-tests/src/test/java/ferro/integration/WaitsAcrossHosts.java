package ferro.integration;

import ferro.HostTensor;
import ferro.group.ProcessGroup;

/** A rank that joins, says so, and with an argument waits for a message of another host that nobody sends. */
final class WaitsAcrossHosts {
    private WaitsAcrossHosts() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            group.barrier();
            System.out.println("joined");
            if (arguments.length > 0) {
                int across = (group.rank() + group.worldSize() / 2) % group.worldSize();
                group.recv(HostTensor.of(new float[1]), across, 1);
            }
        }
    }
}
