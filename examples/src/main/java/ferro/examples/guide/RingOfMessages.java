package ferro.examples.guide;

import ferro.Work;
import ferro.group.ProcessGroup;

/** Sends a number to the next rank, and receives one from the previous rank. */
final class RingOfMessages {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int next = (group.rank() + 1) % group.worldSize();
            int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
            double[] received = new double[1];
            Work sent = group.sendAsync(new double[] {group.rank() + 0.5}, next, 0);
            group.recv(received, previous, 0);
            sent.await();
            System.out.println("received " + received[0] + " from rank " + previous);
        }
    }
}
