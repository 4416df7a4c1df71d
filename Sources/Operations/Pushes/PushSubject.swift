import Domain

/// The subject of a push in the outbox: its topic, and the device that it is for. Each device gets a message of its own.
struct PushSubject: Sendable, Equatable {
    /// The ids and words that the push is about.
    let about: [String]
    let device: DeviceID

    init(_ about: String..., for device: DeviceID) {
        self.about = about
        self.device = device
    }

    /// Parses a stored subject; `nil` for one of another form.
    ///
    /// - Parameter count: the number of ids and words before the device.
    init?(_ text: String, words count: Int) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == count + 1, let last = parts.last, let device = DeviceID(last) else { return nil }
        about = parts.dropLast().map(String.init)
        self.device = device
    }

    var text: String { (about + [device.description]).joined(separator: " ") }
}
