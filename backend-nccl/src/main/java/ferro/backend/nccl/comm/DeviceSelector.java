package ferro.backend.nccl.comm;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Optional;

/** Chooses the device of a rank from the settings, before any native call that changes a state. */
final class DeviceSelector {
    private DeviceSelector() {}

    /**
     * Returns the ordinal of the device of a rank.
     *
     * @throws IllegalArgumentException if no setting names a device, the device does not exist, or the host has more
     *     ranks than devices
     */
    static int of(GroupSpec group, RankContext context, int devices) {
        String who = "rank " + group.rank() + " of group \"" + group.name() + "\"";
        Optional<Integer> named = Settings.NCCL_DEVICE.find(context);
        if (named.isPresent()) {
            return checked(named.get(), devices, who + ": -D" + Settings.NCCL_DEVICE.name() + "=" + named.get());
        }
        unavailableBecause(context, devices).ifPresent(why -> {
            throw new IllegalArgumentException(who + ": " + why);
        });
        return Settings.LOCAL_RANK.find(context).orElseThrow();
    }

    /**
     * Returns why this rank has no device, so that {@code auto} chooses a back end without devices; empty if it has
     * one. If {@code ferro.nccl.device} names a device that does not exist, returns empty, and {@link #of} throws.
     */
    static Optional<String> unavailableBecause(RankContext context, int devices) {
        if (Settings.NCCL_DEVICE.find(context).isPresent()) {
            return Optional.empty();
        }
        Optional<Integer> local = Settings.LOCAL_RANK.find(context);
        if (local.isEmpty()) {
            return Optional.of("cannot tell which of " + devices + " devices this rank uses: set -D"
                    + Settings.NCCL_DEVICE.name() + " (or " + Settings.NCCL_DEVICE.variable()
                    + "), or LOCAL_RANK, as ferro run and torchrun do");
        }
        return tooFew(context, devices)
                .or(() -> local.filter(rank -> !isOneOf(devices, rank))
                        .map(rank -> namesNone("LOCAL_RANK=" + rank, devices)));
    }

    private static Optional<String> tooFew(RankContext context, int devices) {
        return Settings.LOCAL_WORLD_SIZE
                .find(context)
                .filter(ranksHere -> ranksHere > devices)
                .map(ranksHere -> ranksHere + " local ranks (LOCAL_WORLD_SIZE) need as many devices, found " + devices
                        + ": start fewer ranks here, or set the device of each rank with -D"
                        + Settings.NCCL_DEVICE.name());
    }

    private static int checked(int device, int devices, String what) {
        if (!isOneOf(devices, device)) {
            throw new IllegalArgumentException(namesNone(what, devices));
        }
        return device;
    }

    private static boolean isOneOf(int devices, int device) {
        return device >= 0 && device < devices;
    }

    private static String namesNone(String what, int devices) {
        return what + " names no device: there are " + devices + ", numbered from 0";
    }
}
