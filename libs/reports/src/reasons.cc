// What a missing figure's reason means.
#include <array>

#include "tidewatt/reports/text.h"

namespace tidewatt::reports {
namespace {

struct Meaning {
  std::string_view code, en, zh;
};

constexpr std::array<Meaning, 39> kMeanings{{
    {"no_factor_configured", "no emission factor is configured", "未配置排放因子"},
    {"factor_kind_not_average", "the factor in force is no average of a grid", "现行因子不是电网平均值"},
    {"no_factor_of_the_year", "a zone has factors of other years, none of this one",
     "某区域仅有其他年份的因子"},
    {"factors_differ", "the zones' factors differ in gas or kind and can't be added",
     "各区域因子的气体或类型不同，不可相加"},
    {"marginal_series", "the zone's series is marginal: it serves decisions, not inventories",
     "该区域序列为边际值，仅用于决策"},
    {"series_differ", "the zones' series differ in kind, boundary or basis and can't be added",
     "各区域序列的类型、边界或口径不同，不可相加"},
    {"no_signal", "no zone of the energy has an hourly series", "能耗所在区域均无逐时序列"},
    {"no_covered_hour", "no hour with energy has a known intensity", "有能耗的小时均无已知碳强度"},
    {"boundary_not_direct", "its boundary isn't stated as direct or CO2 only, so it can't enter Scope 2",
     "其边界未说明为直接排放或仅 CO₂，不可计入范围二"},
    {"no_residual_mix", "contracts don't cover all, and no residual mix is stated",
     "合同未覆盖全部电量，且未说明剩余组合因子"},
    {"no_upstream_factor", "no upstream factor is stated", "未说明上游因子"},
    {"no_grid_loss", "no grid loss is stated", "未说明线损"},
    {"no_pue", "no PUE is known", "PUE 未知"},
    {"no_water", "no use of water is stated", "未说明用水量"},
    {"water_of_the_site", "the water is of the whole site", "用水量属于整个站点"},
    {"no_move_recorded", "no task that was moved is recorded", "未记录被移动的任务"},
    {"savings_are_of_tasks",
     "savings are of tasks, on any number of nodes: ask by task, group, team or cluster",
     "减排量属于任务而非节点：请按任务、任务组、团队或集群查询"},
    {"no_intensity_of_baseline",
     "an hour of the moved tasks or of their baseline has no known average intensity",
     "被移动任务或其基线的某小时无已知平均碳强度"},
    {"no_marginal_series", "no moved task ran in a zone with a known marginal series",
     "没有被移动的任务位于有已知边际序列的区域"},
    {"no_facility_meter", "no facility meter is booked", "未记录设施总表"},
    {"facility_of_some_clusters", "some clusters have a facility meter and some have none",
     "部分集群有设施总表，部分没有"},
    {"machines_not_metered", "some machines have no meter of their whole input", "部分机器没有整机功率计"},
    {"no_metered_hour", "no hour in which all meters were without a gap", "没有所有电表均无缺口的小时"},
    {"facility_below_machines", "the facility meter shows less than the machines draw",
     "设施总表读数低于机器用电"},
    {"no_embodied_factor", "no embodied carbon of devices is stated", "未说明设备隐含碳"},
    {"shared_devices", "devices were shared: whose part of their making it is isn't known",
     "设备由多个任务共享，其制造排放归谁未知"},
    {"no_device_time", "no accelerator was held", "未占用加速卡"},
    {"no_usage_reported", "no tokens or requests were reported", "未上报 token 或请求数"},
    {"no_tokens", "the tokens that were reported are none", "上报的 token 数为零"},
    {"tokens_are_of_groups", "tokens are counted by task group: ask for scope task_group",
     "token 按任务组计数：请按任务组查询"},
    {"tokens_of_some_lines", "some lines have no tokens: their carbon is no other line's",
     "部分行无 token，其碳排放不可归于其他行"},
    {"group_of_several_teams", "the group's tasks are of several teams", "该任务组属于多个团队"},
    {"no_tariff", "no tariff is configured", "未配置电价"},
    {"price_unknown", "the tariff has no price for an hour with energy", "有能耗的某小时无电价"},
    {"no_demand_charge", "no demand charge is configured", "未配置需量电费"},
    {"demand_of_the_site_only", "a demand charge is of the whole site", "需量电费属于整个站点"},
    {"contracts_of_the_site", "contracts are of the whole site", "合同属于整个站点"},
    {"no_cfe_series", "no series of the grid's clean share, and contracts don't cover the load",
     "无电网清洁占比序列，且合同未覆盖全部负荷"},
    {"no_load", "there was no load", "无负荷"},
}};

}  // namespace

std::string_view text_of(std::string_view reason, Language language) {
  for (const auto& meaning : kMeanings)
    if (meaning.code == reason) return language == Language::zh ? meaning.zh : meaning.en;
  return reason;
}

}  // namespace tidewatt::reports
