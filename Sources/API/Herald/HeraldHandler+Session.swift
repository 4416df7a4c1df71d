import Herald
import Metrics
import NIOCore
import Operations

/// The session of a connection, and the pushes to its client.
extension HeraldHandler {
    /// The session's state by memory; `nil` if the store must be queried. Then ``judged(_:)`` continues.
    func verdictFromMemory(for frame: Frame?) -> Service.HeldSession.Verdict? {
        guard let held, let connection else { return .ended }
        if let verdict = service.verdictFromMemory(held, on: connection) { return verdict }
        (isJudging, judgedFrame) = (true, frame)
        send(.judge(held))
        return nil
    }

    /// Continues after the store was queried about the session.
    func judged(_ verdict: Service.HeldSession.Verdict) {
        guard context != nil else { return }
        let frame = judgedFrame
        (isJudging, judgedFrame) = (false, nil)
        if let frame {
            receive(frame, verdict)
        } else if let verdict = verdict.ofHerald {
            perform(state.judge(verdict))
            if verdict == .holds { sendPush() }
        } else {
            isUnknown = true
        }
        proceed()
    }

    /// Continues after a token was verified.
    func authenticated(_ result: Authentication) {
        guard context != nil else { return }
        isJudging = false
        switch result {
        case .holds(let held):
            perform(state.authenticated(nil))
            self.held = held
        case .refused(let error): perform(state.authenticated(error))
        case .impossible: end("unavailable")
        }
        proceed()
    }

    func judge() {
        guard state.phase == .authenticated, !isJudging, let verdict = verdictFromMemory(for: nil) else { return }
        if let verdict = verdict.ofHerald { perform(state.judge(verdict)) }
    }

    // MARK: Pushes

    func startWatch() {
        // The first push starts synchronization: earlier changes have not been reported to this client.
        isPushDue = true
        guard watch == nil, let held else { return }
        let new = service.watchMessages(of: held.userID)
        watch = new
        send(.watch(new))
    }

    func endWatch() {
        watch?.end()
        watch = nil
        isPushDue = false
    }

    /// Records that data of the user may have changed.
    func change() {
        guard watch != nil else { return }
        isPushDue = true
        proceed()
    }

    func push() {
        guard isPushDue, !isUnknown, !isClosing, !isJudging, state.phase == .authenticated,
            let verdict = verdictFromMemory(for: nil)
        else { return }
        guard let verdict = verdict.ofHerald else { return }
        perform(state.judge(verdict))
        if verdict == .holds { sendPush() }
    }

    private func sendPush() {
        guard isPushDue else { return }
        isPushDue = false
        for channel in state.channels.pushChannels where output.askToSynchronize(on: channel) {
            Counter(label: "herald_pushes").increment()
        }
    }
}
