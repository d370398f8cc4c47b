package ferro.backend.simulated;

import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.IntFunction;

/** Ranks on one thread: everything between two ranks takes a time drawn from the seed, in order on each link. */
final class SeededMedium implements Medium {
    private static final long POSTED = 1L << 56;
    private static final long CONSUMED = 2L << 56;
    private static final long CONTROL = 3L << 56;
    private static final long ENDED = 4L << 56;

    private final Agenda agenda;
    private final IntFunction<Bell> bells;
    private final Map<Channel, Order> posts = new IdentityHashMap<>();
    private final Map<Channel, Order> acknowledgements = new IdentityHashMap<>();
    private final Map<Long, Order> controls = new HashMap<>();

    /** When the last thing on a link arrives, which the next one must not overtake. */
    private static final class Order {
        private final long number;
        private long last;

        Order(long number) {
            this.number = number;
        }

        long next(Agenda agenda) {
            last = Math.max(last + 1, agenda.elapsed() + agenda.delay());
            return last;
        }
    }

    SeededMedium(Agenda agenda, IntFunction<Bell> bells) {
        this.agenda = agenda;
        this.bells = bells;
    }

    private static Order of(Channel channel, Map<Channel, Order> orders) {
        return orders.computeIfAbsent(channel, key -> new Order(orders.size()));
    }

    @Override
    public void posted(Channel channel, long count) {
        Order order = of(channel, posts);
        agenda.add(order.next(agenda), POSTED | order.number, () -> channel.publish(count));
    }

    @Override
    public void consumed(Channel channel, long count, boolean awaited) {
        Order order = of(channel, acknowledgements);
        agenda.add(order.next(agenda), CONSUMED | order.number, () -> channel.acknowledge(count, awaited));
    }

    @Override
    public void later(int from, int to, Runnable task) {
        long pair = (long) from << 28 | to;
        Order order = controls.computeIfAbsent(pair, Order::new);
        agenda.add(order.next(agenda), CONTROL | pair, task);
    }

    @Override
    public void afterPosts(Channel channel, Runnable task) {
        Order order = of(channel, posts);
        agenda.add(order.next(agenda), ENDED | order.number, task);
    }

    @Override
    public Bell bell(int rank) {
        return bells.apply(rank);
    }
}
