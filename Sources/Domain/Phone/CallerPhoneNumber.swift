import PhoneNumbers

extension PhoneNumber: Confidential {}

package extension PhoneNumber {
    /// Parses a number that a caller sent, with the region that it is dialled in, if the caller names one.
    ///
    /// - Throws: ``Refusal`` `malformed_request`. Its reason names the defect but contains no part of the number.
    init(fromCaller text: String, region: String?) throws(Refusal) {
        do throws(PhoneNumberDefect) {
            try self.init(reading: text, region: region)
        } catch {
            throw Refusal.unreadableNumber(error)
        }
    }

    /// Parses a number in international form, for callers that cannot name a region: commands, pages and addresses.
    ///
    /// - Throws: ``Refusal`` `malformed_request`, as above. It does not request a region.
    init(fromCaller text: String) throws(Refusal) {
        do throws(PhoneNumberDefect) {
            try self.init(reading: text)
        } catch {
            throw error == .regionNeeded ? Refusal.nationalForm : Refusal.unreadableNumber(error)
        }
    }
}
