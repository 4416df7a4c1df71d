/// The endpoints of one device for pushes: at least one of the two.
package struct PushEndpoints: Sendable, Equatable, Confidential {
    /// The ARN for all pushes, without ``calls`` for calls too; `nil` for a device that receives only calls.
    package let usual: String?
    /// The ARN for incoming calls, such as that of Apple's pushes for VoIP.
    package let calls: String?

    /// - Returns: `nil` if the device has neither endpoint.
    package init?(usual: String?, calls: String?) {
        guard usual != nil || calls != nil else { return nil }
        self.usual = usual
        self.calls = calls
    }
}

package extension PushEndpoints {
    /// A platform of Amazon SNS, such as `APNS` or `GCM`: the second part of the resource in an endpoint's ARN.
    struct Platform: Sendable, Equatable {
        package let name: String

        /// `nil` for a text that is not an endpoint's ARN.
        package init?(of arn: String) {
            guard let resource = arn.split(separator: ":", omittingEmptySubsequences: false).last else { return nil }
            let parts = resource.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 4, parts[0] == "endpoint", !parts[1].isEmpty else { return nil }
            name = String(parts[1])
        }
    }

    /// The purpose of a push, which decides its endpoint.
    enum Purpose: Sendable, CaseIterable {
        /// A message, a notification, or news of an authorization.
        case usual
        /// An incoming call, which makes the device ring.
        case call
        /// The end of the ringing. Apple requires that each VoIP push shows a call, so such a push cannot end one.
        case endOfCall
    }

    /// The endpoint of a push; `nil` if the device receives none for this purpose.
    func target(for purpose: Purpose) -> String? {
        switch purpose {
        case .usual: usual
        case .call: calls ?? usual
        case .endOfCall: usual ?? calls.flatMap { Platform(of: $0)?.isVoIP == true ? nil : $0 }
        }
    }

    /// The endpoints without one that the carrier reported as deleted; `nil` if none is left.
    func without(_ arn: String) -> PushEndpoints? {
        PushEndpoints(usual: usual == arn ? nil : usual, calls: calls == arn ? nil : calls)
    }

    /// Whether another device registered one of these endpoints: the app was installed again under another name.
    func overlaps(_ other: PushEndpoints) -> Bool {
        let own = Set([usual, calls].compactMap(\.self))
        return !own.isDisjoint(with: [other.usual, other.calls].compactMap(\.self))
    }
}

package extension PushEndpoints.Platform {
    var isApple: Bool { name.hasPrefix("APNS") }
    var isVoIP: Bool { name.hasPrefix("APNS_VOIP") }
}
