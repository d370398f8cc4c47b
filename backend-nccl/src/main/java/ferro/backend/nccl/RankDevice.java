package ferro.backend.nccl;

import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Optional;

/** Which device a rank drives; decided from settings, before any native call that acts. */
final class RankDevice {
    private RankDevice() {}

    /**
     * Chooses.
     *
     * @param group   who
     * @param context settings
     * @param devices how many there are
     * @return ordinal
     * @throws IllegalArgumentException if none is named, there is no such device, or there are more local ranks than devices
     */
    static int of(GroupSpec group, RankContext context, int devices) {
        String who = "rank " + group.rank() + " of group \"" + group.name() + "\"";
        Optional<Integer> named = Settings.NCCL_DEVICE.find(context);
        if (named.isPresent()) {
            return checked(named.get(), devices, who + ": -D" + Settings.NCCL_DEVICE.name() + "=" + named.get());
        }
        int local = Settings.LOCAL_RANK
                .find(context)
                .orElseThrow(() -> new IllegalArgumentException(who + " has no device among " + devices + ": set -D"
                        + Settings.NCCL_DEVICE.name() + " (or " + Settings.NCCL_DEVICE.variable()
                        + "), or LOCAL_RANK, as ferro run and torchrun do"));
        tooFew(context, devices).ifPresent(why -> {
            throw new IllegalArgumentException(who + ": " + why);
        });
        return checked(local, devices, who + ": LOCAL_RANK=" + local);
    }

    /** Returns why the ranks of this host cannot have a device each, unless each is told its own. */
    static Optional<String> tooFew(RankContext context, int devices) {
        if (Settings.NCCL_DEVICE.find(context).isPresent()) {
            return Optional.empty();
        }
        return Settings.LOCAL_WORLD_SIZE
                .find(context)
                .filter(ranksHere -> ranksHere > devices)
                .map(ranksHere -> ranksHere + " local ranks (LOCAL_WORLD_SIZE) need as many devices, found " + devices
                        + ": start fewer ranks here, or give each its device by -D" + Settings.NCCL_DEVICE.name());
    }

    private static int checked(int device, int devices, String what) {
        if (device < 0 || device >= devices) {
            throw new IllegalArgumentException(what + " names no device: there are " + devices + ", numbered from 0");
        }
        return device;
    }
}
